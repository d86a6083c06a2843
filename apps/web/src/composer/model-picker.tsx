import type { AgentCard } from "@loopwright/client";
import type { ReactNode } from "react";
import { Icon } from "../app/icon.tsx";

/** The choice of an agent and one of its models. */
export interface ModelChoice {
  readonly agent: string;
  readonly model: string;
}

export interface ModelPickerProps {
  /** One: only its models are offered. */
  readonly agents: readonly AgentCard[];
  readonly choice: ModelChoice | undefined;
  readonly onChoose: (choice: ModelChoice) => void;
}

/** A choice among the models of the agents. Id `model-picker`, so that a shortcut finds it. */
export function ModelPicker({ agents, choice, onChoose }: ModelPickerProps): ReactNode {
  if (!choice) return null;
  const isOneAgent = agents.length === 1;
  const options = ({ name, models, model }: AgentCard): ReactNode =>
    [...new Set([model, ...models])].map((each) => (
      <option key={each} value={JSON.stringify([name, each])}>
        {each}
      </option>
    ));
  return (
    <span className="model-picker">
      <select
        id="model-picker"
        aria-label={isOneAgent ? "Model" : "Agent and model"}
        value={JSON.stringify([choice.agent, choice.model])}
        onChange={(event) => {
          const [agent, model]: readonly string[] = JSON.parse(event.currentTarget.value);
          if (agent !== undefined && model !== undefined) onChoose({ agent, model });
        }}
      >
        {isOneAgent
          ? agents.map(options)
          : agents.map((agent) => (
              <optgroup key={agent.name} label={agent.name}>
                {options(agent)}
              </optgroup>
            ))}
      </select>
      <Icon name="chevron" />
    </span>
  );
}
