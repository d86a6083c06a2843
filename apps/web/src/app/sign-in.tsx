import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, useId, useState } from "react";
import { Sign } from "./icon.tsx";
import { errorOf } from "./notices.ts";
import { ProblemNote } from "./problem-note.tsx";
import { useServices } from "./services.ts";

/** Asks for the token that a server with authentication wants, and begins anew with it. `error`: why the page has no access now. */
export function SignIn({ error }: { readonly error: AgentError }): ReactNode {
  const { kept, account } = useServices();
  const [token, setToken] = useState("");
  const [isBusy, setBusy] = useState(false);
  // A page that comes without credentials has made no mistake.
  const [refusal, setRefusal] = useState(kept.get("token") === undefined ? undefined : error);
  const id = useId();
  const signIn = async (): Promise<void> => {
    setBusy(true);
    try {
      await account.signIn(token.trim());
    } catch (cause) {
      setRefusal(errorOf(cause));
    }
    setBusy(false);
  };
  return (
    <main className="sign-in">
      <form
        className="sign-in-body"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn();
        }}
      >
        <Sign />
        <h1 className="start-title">Who are you?</h1>
        <p className="start-text" id={`${id}-hint`}>
          This server asks for an access token. It is sent to this server only.
        </p>
        {refusal ? <ProblemNote error={refusal} /> : null}
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
        <button type="submit" className="button primary" disabled={token.trim() === "" || isBusy}>
          Sign in
        </button>
      </form>
    </main>
  );
}
