// A page with the offline model: node --conditions=@loopwright/source examples/pages/server.ts use-chat
import { offline } from "@loopwright/providers-scripted";
import { bundlePage, pageNames, servePage } from "./serve-page.ts";

const name = pageNames.find((one) => one === (process.argv[2] ?? "use-chat"));
if (name === undefined) throw new Error(`Name a page: ${pageNames.join(", ")}.`);
const { url } = await servePage(await bundlePage(name), offline(), Number(process.env["PORT"] ?? 4300));
console.log(url);
