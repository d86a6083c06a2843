import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, useId, useState } from "react";
import { Sign } from "./icon.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { useServices } from "./services.ts";

/** Asks for the token that a server with authentication wants, and begins anew with it. */
export function SignIn({ error }: { readonly error: AgentError }): ReactNode {
  const { kept } = useServices();
  const [token, setToken] = useState("");
  const id = useId();
  const wasRefused = kept.get("token") !== undefined;
  return (
    <main className="sign-in">
      <form
        className="sign-in-body"
        onSubmit={(event) => {
          event.preventDefault();
          kept.set("token", token.trim());
          location.reload();
        }}
      >
        <Sign />
        <h1 className="start-title">Who are you?</h1>
        <p className="start-text" id={`${id}-hint`}>
          This server asks for an access token. It is kept in this browser and sent to this server only.
        </p>
        {wasRefused ? <ProblemNote error={error} /> : null}
        <label className="visually-hidden" htmlFor={id}>
          Access token
        </label>
        <input
          id={id}
          className="field"
          type="password"
          autoComplete="current-password"
          aria-describedby={`${id}-hint`}
          placeholder="Access token"
          value={token}
          onChange={({ currentTarget }) => setToken(currentTarget.value)}
        />
        <button type="submit" className="button primary" disabled={token.trim() === ""}>
          Go on
        </button>
      </form>
    </main>
  );
}
