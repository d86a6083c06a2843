import type { ReactNode } from "react";
import { useWatched } from "../app/use-watched.ts";
import type { OpenSession } from "./open-session.ts";

/** Shows that the connection is lost and what is done about it; empty as long as all is well. */
export function ConnectionBanner({ session }: { readonly session: OpenSession }): ReactNode {
  const isLost = useWatched(session, ({ connection, phase }) => connection === "lost" && phase !== "missing");
  return (
    <div className="banner-place" role="status">
      {isLost ? (
        <p className="banner">
          <span className="spinner" />
          Connection lost. Nothing is lost: the page catches up as soon as the server answers.
          <button type="button" className="button small" onClick={session.retry}>
            Try now
          </button>
        </p>
      ) : null}
    </div>
  );
}
