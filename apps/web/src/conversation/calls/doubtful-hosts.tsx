import { type DoubtfulHost, doubtfulHosts } from "@loopwright/client";
import type { JsonObject } from "@loopwright/core/protocol";
import { type ReactNode, useMemo } from "react";
import { Icon } from "../../app/icon.tsx";
import { PlainText } from "../markdown/plain-text.tsx";

const shownMax = 120;

const doubts: { readonly [Why in DoubtfulHost["why"]]: string } = {
  scripts: "mixes letters of several alphabets",
  letters: "has other letters than a to z",
  encoded: "is shown as other letters elsewhere",
  name: "only begins like a host",
};

/** Names of hosts in the arguments that a person may mistake for others. */
export function DoubtfulHosts({ args }: { readonly args: JsonObject }): ReactNode {
  const hosts = useMemo(() => doubtfulHosts(args), [args]);
  if (hosts.length === 0) return null;
  return (
    <ul className="doubtful-hosts" aria-label="Doubtful hosts">
      {hosts.map(({ written, real, why }) => (
        <li key={written}>
          <Icon name="warning" />
          <span>
            <code dir="ltr">
              <PlainText text={written.slice(0, shownMax)} />
            </code>{" "}
            {doubts[why]}:{" "}
            {real === undefined ? (
              "it is no host."
            ) : (
              <>
                the host is <code dir="ltr">{real.slice(0, shownMax)}</code>.
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
