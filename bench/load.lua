-- The requests of a trial, for wrk. Arguments after `--`: kind (new, known, listed, mixed, document), a seed, and for a
-- document its request headers as name=value. All requests of a run have the same length. The variable PORTS has the port
-- of each thread, separated by commas.

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
-- steps, because a product above 2^53 is not exact. The list of five million in postgres.ts has the addresses of seed 0.
local function address(n)
  local value = (n * 40503 % 4294967296) * 65521 % 4294967296
  return "user." .. (1e9 + value) .. "." .. (1e9 + seed) .. "@rollcall.example"
end

local function post(body)
  return "POST " .. wrk.path .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] ..
    "\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function init(args)
  kind, seed = args[1], tonumber(args[2])
  if kind == "new" or kind == "mixed" then seed = seed + 1e6 * number end
  if kind == "listed" then
    math.randomseed(seed * 100 + number)
    seed = 0
  end
  if kind == "document" then
    for i = 3, #args do
      local name, value = args[i]:match("^([^=]+)=(.*)$")
      wrk.headers[name] = value
    end
    fixed = wrk.format("GET")
    return
  end
  local sample = post('{"email":"' .. address(0) .. '"}')
  head = sample:sub(1, #sample - #address(0) - 2)
end

function request()
  if fixed then return fixed end
  count = count + 1
  if kind == "listed" then return head .. address(math.random(5000000)) .. '"}' end
  if kind == "known" then return head .. address(count % 1000) .. '"}' end
  if kind == "mixed" and count % 10 == 0 then return head .. address(count):gsub("@", ".") .. '"}' end
  return head .. address(count) .. '"}'
end

function done(summary)
  io.write(string.format("RESULT %d %d %d %d\n", summary.requests, summary.duration, summary.errors.status,
    summary.errors.read + summary.errors.write + summary.errors.connect + summary.errors.timeout))
end
