// The blueprints as the facts see them: applied by `orrery apply`, filled with their items, asked their queries.

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { fresh } from "./harness.mjs";

export const NAMES = ["project-ascension", "agent-studio", "asora-notifications", "copilot"];
const FOLDER = new URL("../../../blueprints/", import.meta.url);
const DESIGNS = new Map(NAMES.map((name) => [name, parse(readFileSync(new URL(`${name}.yaml`, FOLDER), "utf8"))]));

export function blueprint(name) {
  return DESIGNS.get(name);
}

/** The blueprint, applied by `orrery apply` to a database of its own; its containers by id. */
export async function standUp(cosmos, name, environment = "development", ...flags) {
  const design = blueprint(name);
  const id = fresh(design.database);
  cosmos.apply(renamed(name, id), "--env", environment, ...flags);
  const database = cosmos.client.database(id);
  const containers = Object.fromEntries(design.containers.map(({ id }) => [id, database.container(id)]));
  return { database, containers };
}

/** The blueprint's text with another database. */
function renamed(name, database) {
  const text = readFileSync(new URL(`${name}.yaml`, FOLDER), "utf8");
  return text.replace(/^database: .*$/m, `database: ${database}`);
}

export async function filled(cosmos, name, ...flags) {
  const { database, containers } = await standUp(cosmos, name, "development", ...flags);
  for (const { id, fixtures } of blueprint(name).containers) {
    for (const item of fixtures) await containers[id].items.create(item);
  }
  return { database, containers };
}

/** The rows of a named query, with its example parameters unless others are given, and the indexes it used. */
export async function ask(name, containers, query, given = {}) {
  const asked = blueprint(name).queries[query];
  const values = Object.entries(asked.parameters).map(([key, { example }]) => [key, given[key] ?? example]);
  const parameters = values.map(([key, value]) => ({ name: `@${key}`, value }));
  const scope = asked.partitionKey ? { partitionKey: Object.fromEntries(values)[asked.partitionKey] } : {};
  const iterator = containers[asked.container].items.query(
    { query: asked.sql, parameters },
    { populateIndexMetrics: true, ...scope },
  );
  const { resources, indexMetrics } = await iterator.fetchAll();
  return { rows: resources, metrics: indexMetrics ? JSON.parse(indexMetrics) : undefined };
}

/** The composite indexes that an answer names, spelled as blueprints spell them. */
export function composites(metrics) {
  return metrics.Utilized.CompositeIndexes.map(({ IndexSpecs }) => IndexSpecs);
}
