-- The requests of a trial, for wrk. Arguments after `--`: kind (see load.ts) and a seed. All requests of a run have the
-- same length. The variable PORTS has the port of each thread, separated by commas.

local kind, seed, count = "new", 0, 0
local head
local threads, ports = 0, {}

for port in (os.getenv("PORTS") or ""):gmatch("%d+") do table.insert(ports, port) end

-- Each thread loads one process.
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
  if ports[threads] then thread.addr = wrk.lookup("127.0.0.1", ports[threads])[1] end
end

-- Multiplication by an odd number gives every value below 2^32 once, in an order that does not suit an index. It has two
-- steps, because a product above 2^53 is not exact. The large lists of lists.ts have the addresses of seed 0.
local function address(n)
  local value = (n * 40503 % 4294967296) * 65521 % 4294967296
  return string.format("%08x.%08x@readers.lan", value, seed)
end

function init(args)
  kind = args[1]
  seed = tonumber(args[2]) + 1e6 * number
  local length = #address(0) + #'{"email":""}'
  head = "POST " .. wrk.path .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] ..
    "\r\nContent-Type: application/json\r\nContent-Length: " .. length .. '\r\n\r\n{"email":"'
end

function request()
  count = count + 1
  local n = count
  -- One that was sent before, four times in five.
  if kind == "repeated" and count % 5 ~= 1 then n = 1 + 5 * math.random(0, math.floor((count - 1) / 5)) end
  return head .. address(n) .. '"}'
end

function done(summary, latency)
  io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration, summary.errors.status,
    summary.errors.read + summary.errors.write + summary.errors.connect + summary.errors.timeout,
    latency:percentile(99)))
end
