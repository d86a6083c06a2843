#!/usr/bin/env node
// Nothing is imported that an old Node.js might not load, before the version is known to be new enough.
import { nodeFloorProblem } from "./node-floor.ts";

const problem = nodeFloorProblem(process.versions.node);
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}
