import { oneLine } from "../terminal/neutralise.ts";
import type { Workplace } from "./workplace.ts";

/** One line: the model that answers and why it was chosen. */
export function introduction({ settings, agent, provider }: Pick<Workplace, "settings" | "agent" | "provider">): string {
  const { vendor, because } = settings;
  if (vendor.name === "offline" && because !== "--offline") return `The offline demonstration model answers: ${because}.`;
  const [, ...others] = agent.chain.map((link) => `${link.provider.name} ${oneLine(link.model, 80)}`);
  const next = others.length === 0 ? "" : ` If it fails: ${others.join(", then ")}.`;
  return `${provider.name} ${oneLine(agent.model, 80)} answers (chosen by ${because}).${next}`;
}
