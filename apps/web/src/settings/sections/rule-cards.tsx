import type { ApprovalRule, Json } from "@loopwright/core/protocol";
import { type ReactNode, useEffect } from "react";
import { useServices } from "../../app/services.ts";
import { useWatched } from "../../app/use-watched.ts";
import { PlainText } from "../../conversation/markdown/plain-text.tsx";

const shownMax = 200;

/** The decisions of this person that hold for later calls in all conversations, each with a way to revoke it. */
export function RuleCards(): ReactNode {
  const { approvalRules, notices } = useServices();
  const { remembers, rules } = useWatched(approvalRules, (state) => state);
  useEffect(() => {
    approvalRules.reload().catch(notices.fail);
  }, [approvalRules, notices]);
  if (!remembers) return null;
  return (
    <>
      <h3>Always</h3>
      {rules.length === 0 ? <p className="settings-empty">No decision holds for later calls in all conversations.</p> : null}
      <ul className="settings-cards" aria-label="Always">
        {rules.map((rule) => (
          <li key={rule.id}>
            <p>
              {rule.decision === "allow" ? "Allow" : "Deny"}{" "}
              <strong>
                <PlainText text={rule.toolName} />
              </strong>
            </p>
            <dl className="settings-facts">
              {matchersOf(rule).map(([name, words]) => (
                <div key={name} className="settings-fact">
                  <dt>
                    <PlainText text={name} />
                  </dt>
                  <dd>
                    <PlainText text={words} />
                  </dd>
                </div>
              ))}
            </dl>
            <button
              type="button"
              className="button small"
              aria-label={`Revoke ${rule.decision} ${rule.toolName}`}
              onClick={() => void approvalRules.remove(rule.id).then(() => notices.say("Revoked"), notices.fail)}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The arguments of a rule in words. */
function matchersOf({ pattern }: ApprovalRule): readonly (readonly [string, string])[] {
  const args = pattern["args"];
  if (typeof args !== "object" || args === null || Array.isArray(args)) return [];
  return Object.entries(args).map(([name, matcher]) => [name.slice(0, 60), wordsOf(matcher as { readonly [kind: string]: Json })]);
}

function wordsOf(matcher: { readonly [kind: string]: Json }): string {
  const { equals, below, origin } = matcher;
  if (typeof below === "string") return `anything in ${below}`;
  if (typeof origin === "string") return `anything at ${origin}`;
  if (equals === undefined) return "anything";
  return (typeof equals === "string" ? equals : JSON.stringify(equals)).slice(0, shownMax);
}
