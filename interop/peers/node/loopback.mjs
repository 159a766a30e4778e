// Loaded with --import, this keeps a server that would listen on every interface on
// the loopback one, and has it print the port that it got as {"listening": PORT}.
import net from "node:net";

const { listen } = net.Server.prototype;

net.Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => console.log(JSON.stringify({ listening: this.address().port })));
  return listen.call(this, Number(port), "127.0.0.1", ...rest.filter((one) => typeof one === "function"));
};
