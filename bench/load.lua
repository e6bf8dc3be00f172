-- The requests of a trial, for wrk. Arguments after `--`: kind (new, known, mixed, document), a seed, and for a
-- document its request headers as name=value. All requests of a run have the same length.

local kind, seed, count = "new", 0, 0
local head, fixed

-- Multiplication by an odd number gives every value below 2^32 once, in an order that does not suit an index.
local function address(n)
  return "user." .. (1e9 + (n * 40503 * 65521) % 4294967296) .. "." .. (1e9 + seed) .. "@rollcall.example"
end

local function post(body)
  return "POST " .. wrk.path .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] ..
    "\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function init(args)
  kind, seed = args[1], tonumber(args[2])
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
  if kind == "known" then return head .. address(count % 1000) .. '"}' end
  if kind == "mixed" and count % 10 == 0 then return head .. address(count):gsub("@", ".") .. '"}' end
  return head .. address(count) .. '"}'
end

function done(summary)
  io.write(string.format("RESULT %d %d %d %d\n", summary.requests, summary.duration, summary.errors.status,
    summary.errors.read + summary.errors.write + summary.errors.connect + summary.errors.timeout))
end
