#!/usr/bin/env python3
"""Trains a correction of the order by small trees, and measures it by putting the program's own first hits in a new order.

    agent-knowledge-eval features SET... --mode lexical --limit 20 --save FEATURES
    python3 train_trees.py FEATURES SETS [SETS...]

SETS are folders that hold the folders of the sets. Stores named store0 to store9 train; every other set reports.
Needs numpy and lightgbm 4.7.0. Seeds are fixed. The numbers of a hit depend on it, the query and the corpus alone.
"""
import collections, json, math, re, sys
from pathlib import Path

import lightgbm
import numpy

KAPPA, ROUNDS, SEEDS, RESAMPLES = 20, 120, (0, 1), 2000
DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NAMES = ["covered", "rarity", "terms", "cosine", "tokens", "fit", "shared", "bytes", "pairs", "head", "window", "met", "met_weight", "missing", "words", "code"]
SETTINGS = {"num_leaves": 8, "learning_rate": 0.05, "min_data_in_leaf": 150, "objective": "lambdarank", "lambdarank_truncation_level": 10, "verbose": -1,
            "num_threads": 1, "deterministic": True, "force_row_wise": True}


def words_of(text):
    return [word.lower()[:20].rstrip("s") for word in re.findall(r"[A-Za-z0-9_]+", text)]


class Texts:
    """The words of the notes of one set, and how rare they are."""

    def __init__(self, folder):
        rows = [json.loads(line) for line in open(folder / "corpus.jsonl")]
        fields = ("title", "text", "context", "lesson", "command")
        self.texts = ["\n".join(row[field] for field in fields if row.get(field)) for row in rows]
        self.number = {row["id"]: at for at, row in enumerate(rows)}
        self.words = [words_of(text) for text in self.texts]
        self.heads = [set(words_of(text[:160])) for text in self.texts]
        self.pairs = [set(zip(words, words[1:])) for words in self.words]
        self.held = collections.Counter(word for words in self.words for word in set(words))
        self.held_pairs = collections.Counter(pair for pairs in self.pairs for pair in pairs)
        self.queries = {row["id"]: row["text"] for row in map(json.loads, open(folder / "queries.jsonl"))}
        self.answer = {}
        for line in open(folder / "qrels.tsv"):
            query, document, *_ = line.rstrip("\n").split("\t")
            self.answer.setdefault(query, document)

    def rarity(self, held):
        return math.log(1 + (len(self.texts) - held + 0.5) / (held + 0.5))

    def place(self, hit):
        if hit in self.number:
            return self.number[hit]
        low = 0
        for digit in hit[-16:]:
            low = low * 32 + DIGITS.index(digit)
        return low >> 20


def numbers(texts, query, row, hit):
    at = texts.place(hit["id"])
    asked = list(dict.fromkeys(words_of(query)))
    weight = {word: texts.rarity(texts.held[word]) for word in asked}
    total = sum(weight.values()) or 1
    words = texts.words[at]
    own = set(words)
    pairs = {pair: texts.rarity(texts.held_pairs[pair]) for pair in zip(asked, asked[1:])}
    windows = [set(words[start:start + 40]) for start in range(0, max(1, len(words) - 20), 20)]
    code = numpy.mean([not word.isalpha() for word in query.split()] or [0])
    covered, rarity, terms, cosine, tokens, fit, _, shared, size = hit["x"]
    nothing = math.nan
    return [covered, rarity, terms, nothing if cosine is None else cosine, nothing if tokens is None else tokens, fit,
            shared / max(row["possible"], 1e-6), math.log1p(size),
            sum(value for pair, value in pairs.items() if pair in texts.pairs[at]) / (sum(pairs.values()) or 1),
            sum(weight[word] for word in asked if word in texts.heads[at]) / total,
            max(sum(weight[word] for word in asked if word in window) for window in windows) / total,
            sum(word in own for word in asked) / max(1, len(asked)),
            sum(weight[word] for word in asked if word in own) / total,
            max([weight[word] for word in asked if word not in own] or [0]) / (max(weight.values() or [1]) or 1),
            math.log1p(len(words)), code]


def read(path, folders):
    sets = collections.defaultdict(list)
    texts = {}
    for line in list(open(path))[1:]:
        row = json.loads(line)
        name = row["set"]
        if name not in texts:
            texts[name] = Texts(next(folder / name for folder in folders if (folder / name / "corpus.jsonl").exists()))
        if not row["relevant"] or not row["candidates"]:
            continue
        hits = row["candidates"]
        x = numpy.array([numbers(texts[name], texts[name].queries[row["query"]], row, hit) for hit in hits])
        sets[name].append({"query": row["query"], "x": x, "right": numpy.array([hit["right"] for hit in hits]),
                           "total": numpy.array([hit["total"] for hit in hits]), "relevant": row["relevant"],
                           "document": texts[name].answer.get(row["query"])})
    return sets


def train(rows, rounds):
    rows = [row for row in rows if row["right"].any()]
    x = numpy.concatenate([row["x"] for row in rows])
    y = numpy.concatenate([row["right"] for row in rows]).astype(int)
    start = KAPPA * numpy.concatenate([row["total"] for row in rows])
    make = lambda: lightgbm.Dataset(x, y, group=[len(row["right"]) for row in rows], init_score=start)
    return [lightgbm.train({**SETTINGS, "seed": seed}, make(), rounds) for seed in SEEDS]


def recall(row, score):
    first = numpy.argsort(-score, kind="stable")[:5]
    return min(1, row["right"][first].sum() / row["relevant"])


def compare(rows, models):
    corrections = [model.predict(numpy.concatenate([row["x"] for row in rows])) for model in models]
    ends = numpy.cumsum([len(row["right"]) for row in rows])[:-1]
    corrected = numpy.split(sum(corrections) / len(models), ends)
    before = numpy.array([recall(row, row["total"]) for row in rows])
    after = numpy.array([recall(row, KAPPA * row["total"] + add) for row, add in zip(rows, corrected)])
    return before, after


def interval(rows, change):
    places = {document: at for at, document in enumerate(dict.fromkeys(row["document"] for row in rows))}
    sums, counts = numpy.zeros(len(places)), numpy.zeros(len(places))
    for row, value in zip(rows, change):
        sums[places[row["document"]]] += value
        counts[places[row["document"]]] += 1
    chosen = numpy.random.default_rng(1).integers(0, len(places), (RESAMPLES, len(places)))
    return numpy.percentile(sums[chosen].sum(1) / counts[chosen].sum(1), [2.5, 97.5])


def report(name, rows, before, after):
    low, high = interval(rows, after - before)
    print(f"| {name} | {len(rows)} | {before.mean():.4f} | {after.mean():.4f} | {(after - before).mean():+.4f} [{low:+.4f}, {high:+.4f}] |", flush=True)


def main(path, folders):
    sets = read(path, folders)
    stores = sorted(name for name in sets if re.fullmatch(r"store\d", name))
    for rounds in (80, ROUNDS):
        rows, before, after = [], [], []
        for half in range(2):
            models = train([row for at, name in enumerate(stores) if at % 2 != half for row in sets[name]], rounds)
            for name in (name for at, name in enumerate(stores) if at % 2 == half):
                one, other = compare(sets[name], models)
                rows, before, after = rows + sets[name], before + [one], after + [other]
        report(f"stores, crossed, {rounds} trees", [{**row, "document": f"{at}"} for at, row in enumerate(rows)], numpy.concatenate(before), numpy.concatenate(after))
        models = train([row for name in stores for row in sets[name]], rounds)
        for name in (name for name in sets if name not in stores):
            report(f"{name}, {rounds} trees", sets[name], *compare(sets[name], models))
    gain = models[0].feature_importance("gain")
    print("gain:", ", ".join(f"{NAMES[at]} {gain[at] / gain.sum():.2f}" for at in numpy.argsort(-gain)[:10]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(folder) for folder in sys.argv[2:]])
