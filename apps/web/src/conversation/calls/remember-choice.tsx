import type { JsonObject, RememberRequest } from "@loopwright/core/protocol";
import { type ReactNode, useId, useState } from "react";
import { PlainText } from "../markdown/plain-text.tsx";
import { coversAll, patternOf, patternOptions } from "./pattern-options.ts";

export interface RememberChoiceProps {
  readonly args: JsonObject;
  /** `undefined`: the decision is about this call alone. */
  readonly onChange: (remember: RememberRequest | undefined) => void;
}

/** For how long a decision holds, and for which calls. */
export function RememberChoice({ args, onChange }: RememberChoiceProps): ReactNode {
  const [holds, setHolds] = useState<"once" | RememberRequest["for"]>("once");
  const [chosen, setChosen] = useState<{ readonly [name: string]: number }>({});
  const id = useId();

  const change = (next: typeof holds, options: typeof chosen): void => {
    setHolds(next);
    setChosen(options);
    onChange(next === "once" ? undefined : { for: next, pattern: patternOf(args, options) });
  };

  return (
    <div className="call-remember">
      <label htmlFor={id}>Holds for</label>
      <select id={id} className="field" value={holds} onChange={({ currentTarget }) => change(currentTarget.value as typeof holds, chosen)}>
        <option value="once">this call alone</option>
        <option value="session">this conversation</option>
        <option value="always">always</option>
      </select>
      {holds === "once"
        ? null
        : Object.entries(args).map(([name, value]) => (
            <div key={name} className="call-remember-argument">
              <label htmlFor={`${id}-${name}`}>
                where <PlainText text={name.slice(0, 60)} /> is
              </label>
              <select
                id={`${id}-${name}`}
                className="field"
                value={chosen[name] ?? 0}
                onChange={({ currentTarget }) => change(holds, { ...chosen, [name]: Number(currentTarget.value) })}
              >
                {patternOptions(value).map(({ label }, at) => (
                  <option key={label} value={at}>
                    {label}
                  </option>
                ))}
              </select>
            </div>
          ))}
      {holds !== "once" && coversAll(args, chosen) ? (
        <p className="call-approval-hint">One argument has to be narrower than anything.</p>
      ) : null}
    </div>
  );
}
