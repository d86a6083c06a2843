import { type ReactNode, useState } from "react";
import { isSignedIn } from "../../app/account.ts";
import { useServices } from "../../app/services.ts";
import { useWatched } from "../../app/use-watched.ts";

/** The user as the server knows it, and the way out. */
export function AccountSection(): ReactNode {
  const { account, kept, notices } = useServices();
  const access = useWatched(account, (state) => state);
  const [isBusy, setBusy] = useState(false);
  if (!access) return <p className="settings-empty">The server has not said who you are.</p>;
  const { user, scope, scopes, roles = [], expiresAt } = access;
  const signOut = (): void => {
    setBusy(true);
    account.signOut().catch((error: unknown) => {
      setBusy(false);
      notices.fail(error);
    });
  };
  return (
    <>
      <dl className="settings-facts">
        <dt>User</dt>
        <dd>{user}</dd>
        <dt>Team</dt>
        <dd>{scope}</dd>
        {scopes.length > 1 ? (
          <>
            <dt>All teams</dt>
            <dd>{scopes.toSorted().join(", ")}</dd>
          </>
        ) : null}
        {roles.length > 0 ? (
          <>
            <dt>Roles</dt>
            <dd>{roles.join(", ")}</dd>
          </>
        ) : null}
        {expiresAt === undefined ? null : (
          <>
            <dt>Signed in until</dt>
            <dd>{new Date(expiresAt).toLocaleString()}</dd>
          </>
        )}
      </dl>
      {isSignedIn(access, kept) ? (
        <p>
          <button type="button" className="button" disabled={isBusy} onClick={signOut}>
            Sign out
          </button>
        </p>
      ) : (
        <p className="settings-hint">This server knows you without a sign-in.</p>
      )}
    </>
  );
}
