// The query matrix as the facts see it: the queries, the containers they are asked of, and when two answers agree.
//
// `queries/` has the items and, for each query, the rows it must give. The items lie in one container of one range
// and in one of four; both are filled once on each server, and http and https ask the same two.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { sameContainer } from "./harness.mjs";

const THROUGHPUT = { one: 400, four: 24_000 };
const SYSTEM = new Set(["_rid", "_self", "_etag", "_ts", "_attachments"]);

export const GROUPS = ["select", "where", "order", "join", "aggregates", "functions", "parameters", "search", "paging"];
export const MATRIX = Object.fromEntries(GROUPS.map((name) => [name, read(`${name}.json`)]));

function read(file) {
  return JSON.parse(readFileSync(new URL(`../queries/${file}`, import.meta.url), "utf8"));
}

const filling = new Map();

/** The container of this many ranges with all items, as the client of this fact sees it. */
export async function filled(cosmos, ranges) {
  const server = new URL(cosmos.endpoint).port;
  if (!filling.has(server)) filling.set(server, fill(cosmos));
  return sameContainer((await filling.get(server))[ranges], cosmos.client);
}

async function fill(cosmos) {
  const made = {};
  for (const [ranges, throughput] of Object.entries(THROUGHPUT)) {
    made[ranges] = await cosmos.container({ throughput, ...read("container.json") });
    for (const item of read("items.json")) await made[ranges].items.create(item);
  }
  return made;
}

/** The query as the SDK takes it. */
export function asked({ query, parameters }) {
  return parameters ? { query, parameters } : query;
}

/** The option that says which partitions are asked. */
export function scope(entry) {
  return entry.scope === "cross" ? {} : { partitionKey: entry.scope.pk };
}

/** The rows are those expected: in order where the query has one, each as often as expected otherwise. */
export function assertRows(entry, found, asking) {
  assert(agree(entry, found), `${asking}: ${entry.query}\n  gave     ${show(found)}\n  expected ${show(entry.expect)}`);
}

function agree({ expect, ordered, close }, found) {
  if (close) return isClose(plain(found), expect);
  const [some, others] = [found.map(text), expect.map(text)];
  return isDeepStrictEqual(ordered ? some : some.sort(), ordered ? others : others.sort());
}

function show(rows) {
  return JSON.stringify(rows).slice(0, 4000);
}

/** One text for each value, whatever the order of its members. */
function text(row) {
  return JSON.stringify(plain(row)) ?? "undefined";
}

function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const names = Object.keys(value).filter((name) => !SYSTEM.has(name)).sort();
  return Object.fromEntries(names.map((name) => [name, plain(value[name])]));
}

function isClose(a, b) {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a));
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  const names = Object.keys(b);
  return Object.keys(a).length === names.length && names.every((name) => isClose(a[name], b[name]));
}
