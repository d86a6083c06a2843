import { type ReactNode, useEffect, useRef } from "react";
import { useServices } from "../app/services.ts";
import { goTo, useRoute } from "../app/use-route.ts";
import { useWatched } from "../app/use-watched.ts";

/** Set while the page begins anew for another team, so that the keyboard stays where it was. */
let isSwitching = false;

/** The team that everything is read in, for users of several. A switch reads everything anew. */
export function TeamSwitch(): ReactNode {
  const { account } = useServices();
  const access = useWatched(account, (state) => state);
  const route = useRoute();
  const field = useRef<HTMLSelectElement>(null);
  const hasTeams = access !== undefined && access.scopes.length > 1;
  useEffect(() => {
    if (!hasTeams || !isSwitching) return;
    isSwitching = false;
    field.current?.focus();
  }, [hasTeams]);
  if (!hasTeams) return null;
  return (
    <div className="team-switch">
      <label htmlFor="team">Team</label>
      <select
        ref={field}
        id="team"
        className="field"
        value={access.scope}
        onChange={({ currentTarget }) => {
          isSwitching = true;
          // A conversation is of the team that it was opened in.
          if (route.name === "session") goTo({ name: "new" }, { replace: true });
          account.switchTo(currentTarget.value);
        }}
      >
        {access.scopes.toSorted().map((scope) => (
          <option key={scope}>{scope}</option>
        ))}
      </select>
    </div>
  );
}
