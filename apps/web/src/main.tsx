import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ServicesContext } from "./app/services.ts";
import { App } from "./app.tsx";
import { createServices } from "./create-services.ts";
import "./styles/index.css";

const place = document.getElementById("app");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <ServicesContext value={createServices()}>
        <App />
      </ServicesContext>
    </StrictMode>,
  );
}
