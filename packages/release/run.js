#!/usr/bin/env node
// Starts the program of this machine, which is in a package of its own: npm installs only the one that fits.
"use strict";
const { spawnSync } = require("node:child_process");
const { basename } = require("node:path");

// This file is there once for each program, under its name: how it was called differs from shim to shim.
const name = basename(__filename, ".js");
const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? `${name}.exe` : name;

let program;
try {
  program = require.resolve(`agent-knowledge-${platform}/bin/${file}`);
} catch {
  console.error(`agent-knowledge: npm has installed no program for ${platform}.`);
  console.error("Install again without --omit=optional, or build it: cargo install --path . in a checkout.");
  process.exit(69);
}
const ended = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error(`agent-knowledge: cannot start ${program}: ${ended.error.message}`);
  process.exit(69);
}
// A program that a signal ended has no status.
process.exit(ended.status ?? 70);
