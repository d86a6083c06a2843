// The product with a model that plays a part: node server.ts
import type { AddressInfo } from "node:net";
import { scripted } from "@loopwright/core/memory";
import { createUiControl, productServer } from "./ui-control.ts";

const call = (name: string, args: { readonly [name: string]: string } = {}) => ({ calls: [{ name, args }] });

const assistant = createUiControl(
  scripted([
    call("inspect_page"),
    call("select_row", { row: "Ben" }),
    call("navigate", { module: "order" }),
    { calls: [set("city", "Bern"), set("flower", "rose"), set("count", "3"), set("code", "1234")] },
    call("click_button", { button: "Check" }),
    call("click_button", { button: "Pay" }),
    { text: "Three roses for Ben in Bern are ready. Please type the code and pay yourself." },
    { text: "Ben lives in Bern." },
  ]),
);

function set(field: string, value: string) {
  return { name: "set_field", args: { field, value } };
}

const http = productServer(assistant);
http.listen(Number(process.env["PORT"] ?? 4200), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`),
);
