export { type ArtifactRoute, artifactRoutes } from "./artifact-routes.ts";
export { type Artifact, artifactOf, artifactsOf, type KeptArtifact } from "./artifacts.ts";
export { type CraftArguments, type CraftToolOptions, craftTool } from "./craft-tool.ts";
