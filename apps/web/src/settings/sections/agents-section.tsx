import { type ReactNode, useEffect } from "react";
import { useServices } from "../../app/services.ts";
import { useWatched } from "../../app/use-watched.ts";
import { tokensLabel } from "../../conversation/amount-labels.ts";
import { PlainText } from "../../conversation/markdown/plain-text.tsx";

/** The agents of the server: what each is for, its models, and what its tools do. */
export function AgentsSection(): ReactNode {
  const { agents } = useServices();
  const known = useWatched(agents, (state) => state);
  useEffect(() => {
    void agents.load();
  }, [agents]);
  if (known.agents.length === 0) return <p className="settings-empty">The agents of this server are not known yet.</p>;
  return (
    <ul className="settings-cards">
      {known.agents.map(({ name, description, model, models, contextTokens, tools }) => (
        <li key={name}>
          <h3>
            {name}
            {name === known.default ? <span className="settings-hint"> answers where none is chosen</span> : null}
          </h3>
          {description === undefined ? null : (
            <p>
              <PlainText text={description} />
            </p>
          )}
          <dl className="settings-facts">
            <dt>Models</dt>
            <dd>
              <ul>
                {(models.length === 0 ? [model] : models).map((each) => {
                  const most = contextTokens?.[each];
                  return (
                    <li key={each}>
                      {each}
                      {each === model ? ", by default" : ""}
                      {most === undefined ? null : <span className="settings-hint"> reads {tokensLabel(most)} tokens</span>}
                    </li>
                  );
                })}
              </ul>
            </dd>
            <dt>Tools</dt>
            <dd>
              {tools.length === 0 ? (
                "None"
              ) : (
                <ul>
                  {tools.map((tool) => (
                    <li key={tool.name}>
                      {tool.label ?? tool.name} <span className="settings-hint">{tool.description}</span>
                    </li>
                  ))}
                </ul>
              )}
            </dd>
          </dl>
        </li>
      ))}
    </ul>
  );
}
