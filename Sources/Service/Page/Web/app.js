// Signs in and out, and says who is signed in. All addresses are relative, so that the page works behind a prefix.
const form = document.getElementById("sign-in");
const state = document.getElementById("state");
const signOut = document.getElementById("sign-out");

async function session(method, body) {
  const answer = await fetch("api/v1/session", { method, body: body && JSON.stringify(body) });
  return { isDone: answer.ok, value: answer.status === 204 ? null : await answer.json() };
}

function show(answer) {
  const isSignedIn = answer.isDone && answer.value !== null;
  form.hidden = isSignedIn;
  signOut.hidden = !isSignedIn;
  state.textContent = isSignedIn ? `${answer.value.name} (${answer.value.scope})` : answer.value?.title ?? "";
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const token = form.elements.token.value.trim();
  form.reset();
  show(await session("POST", { token }));
});
signOut.addEventListener("click", async () => show(await session("DELETE")));
show(await session("GET"));
