import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "../app/icon.tsx";
import type { Artifact, ArtifactVersion, WrittenArtifact } from "../conversation/artifacts/artifact.ts";
import type { OpenArtifact } from "../conversation/artifacts/artifacts-context.ts";
import { CopyButton } from "../conversation/copy-button.tsx";
import { CodeBlock } from "../conversation/markdown/code-block.tsx";
import { Markdown } from "../conversation/markdown/markdown.tsx";
import { PlainText } from "../conversation/markdown/plain-text.tsx";
import "./artifact-pane.css";

export interface ArtifactPaneProps {
  readonly artifacts: readonly Artifact[];
  /** What is being made. */
  readonly written: WrittenArtifact | undefined;
  readonly open: OpenArtifact;
  readonly onOpen: (open: OpenArtifact) => void;
  readonly onClose: () => void;
}

/** The artifacts of a conversation: one of them with its versions, and the list where there are several. */
export function ArtifactPane({ artifacts, written, open, onOpen, onClose }: ArtifactPaneProps): ReactNode {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const isLive = written !== undefined && (open.id === undefined || open.id === written.id) && open.version === undefined;
  const shown = artifacts.find(({ id }) => id === open.id) ?? (isLive ? undefined : artifacts.at(-1));
  const version = shown?.versions.find((one) => one.version === open.version) ?? shown?.versions.at(-1);
  return (
    <div className="artifact-pane">
      <header className="artifact-head">
        <h2 ref={title} tabIndex={-1}>
          <PlainText text={(isLive ? written.title : undefined) ?? version?.title ?? "Artifact"} />
        </h2>
        <button type="button" className="icon-button" aria-label="Close the artifact" title="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {artifacts.length > 1 ? (
        <nav aria-label="Artifacts of this conversation">
          <ul className="artifact-list">
            {artifacts.map(({ id, versions }) => (
              <li key={id}>
                <button type="button" aria-current={!isLive && id === shown?.id ? "true" : undefined} onClick={() => onOpen({ id })}>
                  <PlainText text={versions.at(-1)?.title ?? id} />
                </button>
              </li>
            ))}
          </ul>
        </nav>
      ) : null}
      {isLive ? (
        <Live written={written} />
      ) : shown && version ? (
        <>
          <Versions artifact={shown} version={version} onOpen={onOpen} />
          <Content version={version} />
        </>
      ) : (
        <p className="artifact-note">This conversation has no artifact yet.</p>
      )}
    </div>
  );
}

/** Which version is shown, and the way to the others. */
function Versions({
  artifact: { id, versions },
  version: { version, content },
  onOpen,
}: {
  readonly artifact: Artifact;
  readonly version: ArtifactVersion;
  readonly onOpen: (open: OpenArtifact) => void;
}): ReactNode {
  const place = versions.findIndex((one) => one.version === version);
  const go = (step: number): void => {
    const next = versions[place + step];
    if (next) onOpen({ id, version: next.version });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is a part of a form
    <div className="artifact-tools" role="group" aria-label="Versions">
      <button type="button" className="icon-button small" aria-label="Earlier version" disabled={place <= 0} onClick={() => go(-1)}>
        <Icon name="left" />
      </button>
      <span role="status">
        Version {version} of {versions.length}
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label="Later version"
        disabled={place >= versions.length - 1}
        onClick={() => go(1)}
      >
        <Icon name="right" />
      </button>
      <CopyButton label="Copy the artifact" text={content} />
    </div>
  );
}

function Content({ version: { kind, language = "", content } }: { readonly version: ArtifactVersion }): ReactNode {
  return kind === "code" ? <CodeBlock language={language} code={content} /> : <Markdown text={content} />;
}

/** As far as the model has written it. */
function Live({ written: { content } }: { readonly written: WrittenArtifact }): ReactNode {
  return (
    <>
      <p className="artifact-note" role="status">
        <span className="spinner" /> Being written
      </p>
      {content === undefined ? null : (
        <pre className="artifact-live" dir="auto">
          <PlainText text={content} />
        </pre>
      )}
    </>
  );
}
