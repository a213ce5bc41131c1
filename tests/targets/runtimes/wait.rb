# 200 waits of 10 ms in a thread of Ruby's.
def inner
  sleep(0.01)
end

def outer
  200.times { inner }
end

$stdout.sync = true
gate = Queue.new
thread = Thread.new do
  gate.pop
  outer
end
puts "ready pid=#{Process.pid}"
$stdin.read(1)
gate.push(nil)
thread.join
puts "done"
$stdin.read
