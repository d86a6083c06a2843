import { lazy, type ReactNode, Suspense, useEffect, useLayoutEffect, useRef } from "react";
import { useWatched } from "../app/use-watched.ts";
import { artifactsOf, writtenArtifactOf } from "../conversation/artifacts/artifact.ts";
import type { OpenArtifact } from "../conversation/artifacts/artifacts-context.ts";
import type { OpenSession } from "./open-session.ts";

const ArtifactPane = lazy(async () => ({ default: (await import("../artifact-pane/artifact-pane.tsx")).ArtifactPane }));

export interface ArtifactPlaceProps {
  readonly session: OpenSession;
  readonly open: OpenArtifact;
  readonly onOpen: (open: OpenArtifact) => void;
  readonly onClose: () => void;
}

/** The artifacts beside the conversation. Their code comes when one is first opened. */
export function ArtifactPlace({ session, open, onOpen, onClose }: ArtifactPlaceProps): ReactNode {
  const view = useWatched(session, (state) => state.view);
  const opener = useRef<Element | null>(null);
  // Effects of the pane run before those of this place, and move the focus; layout effects run before them all.
  useLayoutEffect(() => {
    opener.current = document.activeElement;
  }, []);
  useEffect(
    () => () => {
      if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus();
    },
    [],
  );
  if (!view) return null;
  return (
    <aside className="run-place" aria-label="Artifact">
      <Suspense fallback={<span className="spinner" />}>
        <ArtifactPane artifacts={artifactsOf(view.path)} written={writtenArtifactOf(view)} {...{ open, onOpen, onClose }} />
      </Suspense>
    </aside>
  );
}
