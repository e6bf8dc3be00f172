-- The requests of a trial, for wrk. Arguments after `--`: kind (see load.ts) and a seed. All requests of a run have the
-- same length. The variable PORTS has the port of each thread, separated by commas.

local kind, seed, count = "new", 0, 0
local head, fixed
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

local function post(body)
  return "POST " .. wrk.path .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] ..
    "\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function init(args)
  kind, seed = args[1], tonumber(args[2])
  if kind == "document" then
    fixed = wrk.format("GET")
    return
  end
  if kind == "listed" then
    math.randomseed(seed * 100 + number)
    seed = 0
  elseif kind == "known" then
    seed = 1
  else
    seed = seed + 1e6 * number
  end
  local sample = post('{"email":"' .. address(0) .. '"}')
  head = sample:sub(1, #sample - #address(0) - 2)
end

function request()
  if fixed then return fixed end
  count = count + 1
  if kind == "listed" then return head .. address(math.random(5000000)) .. '"}' end
  if kind == "known" then return head .. address(count % 1000) .. '"}' end
  if kind == "repeated" and count % 5 ~= 1 then return head .. address(1 + 5 * math.random(0, math.floor((count - 1) / 5))) .. '"}' end
  return head .. address(count) .. '"}'
end

function done(summary, latency)
  io.write(string.format("RESULT %d %d %d %d %d\n", summary.requests, summary.duration, summary.errors.status,
    summary.errors.read + summary.errors.write + summary.errors.connect + summary.errors.timeout,
    latency:percentile(99)))
end
