// All that an agent has sent in a session, by a plain EventSource, as a browser has it.
// In Node.js: node --experimental-eventsource event-source.mjs http://127.0.0.1:8080/api/sessions/greenhouse
const source = new EventSource(`${process.argv[2]}/events?text=whole`);
let text = "";
source.addEventListener("text_delta", ({ data }) => {
  text += JSON.parse(data).delta;
});
source.addEventListener("run_error", ({ data }) => console.error(JSON.parse(data).error));
source.addEventListener("rest", () => {
  console.log(text);
  source.close();
});
