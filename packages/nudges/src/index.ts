/** Hooks that ask a model to continue where it has stopped before its work was done. */
export { nudgeLimits, type WorkflowNudgesOptions, type WorkflowPhases, workflowNudges } from "./workflow-nudges.ts";
