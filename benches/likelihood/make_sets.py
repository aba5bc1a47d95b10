"""Makes sets of answerable and unanswerable questions for fitting and measuring the likelihood.

    python3 make_sets.py DATA OUT

DATA is the folder of third-party sets (eval/, sessions/), OUT a folder outside this repository: the texts are not ours.
Each set is one store, in the form that `agent-knowledge-eval` reads. `type` of a query is

  answer   the store has the note that answers it
  near     the note that answers it was taken out of the store; its neighbours are there
  other    a question about another subject: of another store
  prompt   what a person typed first in a session of another repository

`split` is tune or test, by a hash of the note (or of the prompt's repository), so that no note is in both.
"""
import collections, gzip, hashlib, json, random, sys
from pathlib import Path

FOLDS = 4
OTHERS = 160
PROMPTS_OF_REPOSITORY = 60
PROMPT_BYTES = 2000


def number(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def split_of(text):
    return "tune" if number("split:" + text) % 2 else "test"


def lines(path):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as file:
        return [json.loads(line) for line in file if line.strip()]


def folder(path):
    answers = collections.defaultdict(list)
    for line in open(path / "qrels.tsv"):
        query, document, grade = line.rstrip("\n").split("\t")
        if grade.isdigit() and int(grade) > 0:
            answers[query].append(document)
    return lines(path / "corpus.jsonl"), lines(path / "queries.jsonl"), answers


def prompts(data):
    found, seen = collections.defaultdict(list), set()
    for session in lines(data / "sessions/eval/sessions.jsonl.gz"):
        typed = next((event["t"] for event in session["events"] if event["k"] == "user"), "").strip()
        plain = " ".join(typed.split())
        is_typed = len(plain.split()) >= 3 and typed[0] not in "/!#<➜" and len(typed.encode()) <= PROMPT_BYTES
        if is_typed and plain[:60] not in seen and len(found[session["repo"]]) < PROMPTS_OF_REPOSITORY:
            seen.add(plain[:60])
            found[session["repo"]].append(typed)
    return [{"id": f"prompt:{repo}:{at}", "text": text, "type": "prompt", "split": split_of(repo)}
            for repo, texts in sorted(found.items()) for at, text in enumerate(texts)]


def write(out, name, documents, queries, answers):
    path = out / name
    path.mkdir(parents=True, exist_ok=True)
    keep = lambda row, fields: {field: row[field] for field in fields if row.get(field) is not None}
    with open(path / "corpus.jsonl", "w") as file:
        for document in documents:
            file.write(json.dumps(keep(document, ("id", "text", "timestamp", "group", "title"))) + "\n")
    with open(path / "queries.jsonl", "w") as file:
        for query in queries:
            file.write(json.dumps(keep(query, ("id", "text", "group", "type", "split"))) + "\n")
    with open(path / "qrels.tsv", "w") as file:
        for query in queries:
            for document in answers.get(query["id"], []):
                file.write(f"{query['id']}\t{document}\t1\n")


def folds(out, name, documents, queries, answers, others, typed, count=FOLDS, asked=range(FOLDS)):
    for fold in asked:
        held = {document["id"] for document in documents if number("fold:" + document["id"]) % count == fold}
        asked_here, judged = [], {}
        for query in queries:
            right = answers.get(query["id"], [])
            left = [document for document in right if document not in held]
            if not right:
                continue
            kind = "answer" if left else "near"
            # Every question is a near miss in one fold; it is asked as an answerable one in the next only.
            if left and len(asked) > 1 and number("fold:" + right[0]) % count != (fold + 1) % count:
                continue
            asked_here.append({**query, "group": None, "type": kind, "split": split_of(right[0])})
            if left:
                judged[query["id"]] = left
        foreign = [{**query, "id": "other:" + query["id"], "group": None, "type": "other"} for query in others]
        kept = [document for document in documents if document["id"] not in held]
        is_first = fold == asked[0]
        write(out, f"{name}.{fold}", kept, asked_here + (foreign + typed if is_first else []), judged)


def main(data, out):
    chance = random.Random(28)
    typed = prompts(data)
    sets = {name: folder(data / "eval" / name) for name in ("agent_lessons_600", "agent_lessons", "rustc_errors", "locomo")}
    stores = collections.defaultdict(list)
    for row in lines(data / "eval/rank_stores.jsonl.gz"):
        stores[f"store{row['store']}"].append(row)
    for name, rows in stores.items():
        documents = [{"id": row["id"], "text": row["text"]} for row in rows]
        queries = [{"id": "q" + row["id"], "text": row["query"]} for row in rows]
        sets[name] = (documents, queries, {"q" + row["id"]: [row["id"]] for row in rows})

    def sample(names, count):
        of_names = [({**query, "id": f"{name}:{query['id']}", "split": split_of(sets[name][2].get(query["id"], [query["id"]])[0])})
                    for name in names for query in chance.sample(sets[name][1], count)]
        return of_names

    prose = ["store3", "store6", "store7", "store9"]
    for name in ("agent_lessons_600", "agent_lessons"):
        folds(out, name, *sets[name], sample(["rustc_errors", "locomo", *prose], OTHERS // 4), typed)
    folds(out, "rustc_errors", *sets["rustc_errors"], sample(["agent_lessons", "locomo", "store6", "store7"], OTHERS // 4), typed)
    for name in stores:
        folds(out, name, *sets[name], sample(["agent_lessons", "locomo"], OTHERS // 4), typed[::4], count=3, asked=range(1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
