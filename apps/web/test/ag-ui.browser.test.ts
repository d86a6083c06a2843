import { gardenTests } from "./support/garden-tests.ts";

gardenTests({ name: "ag-ui", client: "AG-UI", messagesOfTwoTurns: 2, denied: "TOOL_DENIED: Denied." });
