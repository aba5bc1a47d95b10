// The lines that a walk prints: one for each check that held, one for each fault. Not here: the checks.

/** Prints what was checked, and counts what failed. */
export class Results {
  failed = 0;

  add(name, faults) {
    if (!faults.length) console.log(`ok ${name}`);
    for (const fault of faults) console.log(`FAILED ${name}: ${fault}`);
    this.failed += faults.length ? 1 : 0;
  }
  /** Carries out a step. What it throws is a fault of it, and the walk goes on. */
  async step(name, then) {
    try {
      await then();
    } catch (error) {
      this.add(name, [`${error.stack ?? error}`.split("\n").slice(0, 4).join(" ")]);
    }
  }
}
