import { createAgent, execute, providerEntry } from "@loopwright/core";
import { scripted } from "@loopwright/core/memory";

// Stand in for `openai` and `anthropic` of their packages: the first is overloaded.
const openai = providerEntry(() => scripted([{ error: "MODEL_OVERLOADED" }], { name: "openai" }));
const anthropic = providerEntry(() => scripted([{ text: "From the other vendor." }], { name: "anthropic" }));

const agent = createAgent({ name: "helper", model: [openai("gpt-5"), anthropic("claude-sonnet-5")], limits: { attemptsMax: 1 } });
console.log((await execute(agent, "Hi.").result()).text); // From the other vendor.
