import { type ReactNode, use } from "react";
import { Icon } from "../../app/icon.tsx";
import { artifactIn, artifactTool, writtenArtifact } from "../artifacts/artifact.ts";
import { ArtifactsContext } from "../artifacts/artifacts-context.ts";
import { PlainText } from "../markdown/plain-text.tsx";
import type { ShownCall } from "./shown-call.ts";
import "./artifact-line.css";

const beingMade: ReadonlySet<ShownCall["state"]> = new Set(["writing", "pending", "running"]);

/** What a call has made that the user keeps, with the way to it. Other calls have none. */
export function ArtifactLine({ shown }: { readonly shown: ShownCall }): ReactNode {
  const open = use(ArtifactsContext);
  if (shown.name !== artifactTool || !open) return null;
  const made = artifactIn(shown.details);
  if (!made && !beingMade.has(shown.state)) return null;
  const written = made ?? writtenArtifact(shown.argsText ?? JSON.stringify(shown.args ?? {}));
  const title = written.title ?? written.id ?? "Artifact";
  return (
    <button type="button" className="artifact-line" onClick={() => open(made ? { id: made.id, version: made.version } : {})}>
      {made ? <Icon name="file" /> : <span className="spinner" />}
      <span className="visually-hidden">Open the artifact </span>
      <span className="artifact-title">
        <PlainText text={title} />
      </span>
      <span className="artifact-state">{made ? `version ${made.version}` : "being written"}</span>
    </button>
  );
}
