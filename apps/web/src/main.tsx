import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { createServices } from "./app/create-services.ts";
import { ServicesContext } from "./app/services.ts";
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
