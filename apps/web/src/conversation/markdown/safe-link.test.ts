import { expect, it } from "vitest";
import { safeLink, safePicture } from "./safe-link.ts";

const fileUrl = (blob: string): string => `http://localhost/agents/api/files/${blob}`;
const png = "data:image/png;base64,iVBORw0KGgo=";

it("links lead to the web or to a mailbox, as the browser reads them", () => {
  expect(safeLink("https://example.org/a b?q=1#x")).toBe("https://example.org/a%20b?q=1#x");
  expect(safeLink(" HTTP://Example.org ")).toBe("http://example.org/");
  expect(safeLink("mailto:a@example.org")).toBe("mailto:a@example.org");
});

it("links lead nowhere else, however they are written", () => {
  const refused = [
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "\u0001javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:http://localhost/1",
    "//example.org/x",
    "/relative",
    "#/c/other",
    "",
    "https://bank.example@evil.example/",
  ];
  for (const address of refused) expect(safeLink(address), address).toBeUndefined();
});

it("pictures are loaded from bytes at hand and from the files of the own server", () => {
  expect(safePicture(png, fileUrl)).toBe(png);
  expect(safePicture("http://localhost/agents/api/files/abc", fileUrl)).toBe("http://localhost/agents/api/files/abc");
  expect(safePicture("blob:http://localhost/1b9d", fileUrl)).toBe("blob:http://localhost/1b9d");
});

it("pictures are loaded from nowhere else", () => {
  const refused = [
    "https://example.org/pixel.png",
    "data:image/svg+xml;base64,PHN2Zz4=",
    "data:text/html;base64,PHN2Zz4=",
    "http://localhost/agents/api/files/../sessions",
    "http://localhost/agents/api/files/%2e%2e/sessions",
    "http://localhost/agents/api/files/a%2f..%2fb",
    "http://localhost:81/agents/api/files/a",
    "http://localhost/agents/api/sessions/1",
    "blob:http://evil.example/1b9d",
    "",
  ];
  for (const address of refused) expect(safePicture(address, fileUrl), address).toBeUndefined();
});
