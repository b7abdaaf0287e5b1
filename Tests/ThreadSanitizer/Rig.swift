// The thread sanitizer's own test: small programs with a race, each of which must be reported, and programs without one,
// none of which may be. `Rig races` and `Rig sound` list them, `Rig NAME` runs one. Scripts/tsan compiles it beside the
// package, not as a part of it.
import Dispatch
import Foundation
import Synchronization

/// What the programs share without any order of its own.
// Sound only in the programs that order the accesses; to break that is this file's purpose.
final class Cell: @unchecked Sendable {
  var number = 0
  var list: [Int] = []

  func touch() {
    number += 1
    if list.count < 100 { list.append(number) } else { list.removeAll() }
  }
}

/// Brings two threads to one place in time, again and again. Relaxed, so that it gives them no order.
final class Meeting: Sendable {
  private let arrived = Atomic<Int>(0)

  func wait() {
    let place = arrived.add(1, ordering: .relaxed).oldValue
    let all = (place / 2 + 1) * 2
    for _ in 0..<20_000 where arrived.load(ordering: .relaxed) < all { usleep(100) }
  }
}

/// Runs the bodies on a thread each, and ends with the last.
func onThreads(_ bodies: (@Sendable () -> Void)...) {
  let running = DispatchGroup()
  for body in bodies {
    running.enter()
    Thread.detachNewThread {
      body()
      running.leave()
    }
  }
  running.wait()
}

/// Runs the body in as many tasks at once.
func inTasks(_ count: Int, _ body: @escaping @Sendable (Int) async -> Void) async {
  await withTaskGroup(of: Void.self) { group in
    for index in 0..<count { group.addTask { await body(index) } }
  }
}

@main
enum Rig {
  static func main() async {
    let names = Array(CommandLine.arguments.dropFirst())
    for name in names {
      if name == "races" || name == "sound" {
        for known in (name == "races" ? races : sound).keys.sorted() { print(known) }
      } else if let program = races[name] ?? sound[name] {
        await program()
      } else {
        print("Rig: no program '\(name)'; see Rig races, Rig sound")
        exit(2)
      }
    }
  }
}

// MARK: Programs with a race

let races: [String: @Sendable () async -> Void] = [
  // Rounds, because the runtime's own locks, taken at a first use or a thread's end, give an order by chance.
  "race-threads": {
    let cell = Cell()
    let meeting = Meeting()
    let work: @Sendable () -> Void = {
      for _ in 0..<20 {
        meeting.wait()
        cell.touch()
      }
    }
    onThreads(work, work)
  },
  "race-tasks": {
    let cell = Cell()
    let meeting = Meeting()
    await inTasks(2) { _ in
      for _ in 0..<20 {
        meeting.wait()
        cell.touch()
      }
    }
  },
  // Each side holds a lock, in contention with a third, but not the same.
  "race-two-mutexes": {
    let cell = Cell()
    let locks = [Locks(), Locks()]
    let meeting = Meeting()
    let side: @Sendable (Int) -> Void = { index in
      for _ in 0..<20 {
        meeting.wait()
        for _ in 0..<100 { locks[index].mutex.withLock { _ in cell.touch() } }
      }
    }
    let third: @Sendable (Int) -> Void = { index in
      for _ in 0..<20_000 { locks[index].mutex.withLock { _ in } }
    }
    onThreads({ side(0) }, { side(1) }, { third(0) }, { third(1) })
  },
  // The lock guards the change, not the reading.
  "race-outside-mutex": {
    let cell = Cell()
    let lock = Locks()
    let meeting = Meeting()
    onThreads(
      {
        for _ in 0..<20 {
          meeting.wait()
          lock.mutex.withLock { _ in cell.touch() }
        }
      },
      {
        var sum = 0
        for _ in 0..<20 {
          meeting.wait()
          sum += cell.number
        }
        print("read", sum)
      })
  },
  "race-after-resume": {
    for _ in 0..<20 {
      let cell = Cell()
      let meeting = Meeting()
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume()
          meeting.wait()
          cell.touch()
        }
      }
      meeting.wait()
      cell.touch()
    }
  },
  "race-after-submit": {
    let queue = DispatchQueue(label: "rig")
    for _ in 0..<20 {
      let cell = Cell()
      let meeting = Meeting()
      queue.async {
        meeting.wait()
        cell.touch()
      }
      meeting.wait()
      cell.touch()
    }
    queue.sync {}
  },
  "race-after-yield": {
    for _ in 0..<20 {
      let (stream, continuation) = AsyncStream<Cell>.makeStream()
      let meeting = Meeting()
      let producer = Task.detached {
        let cell = Cell()
        continuation.yield(cell)
        meeting.wait()
        cell.touch()
        continuation.finish()
      }
      for await cell in stream {
        meeting.wait()
        cell.touch()
      }
      await producer.value
    }
  },
  // Published without an order.
  "race-relaxed": {
    for _ in 0..<20 {
      let cell = Cell()
      let ready = Atomic<Bool>(false)
      let meeting = Meeting()
      await inTasks(2) { index in
        meeting.wait()
        if index == 0 {
          cell.touch()
          ready.store(true, ordering: .relaxed)
        } else {
          for _ in 0..<20_000 where !ready.load(ordering: .relaxed) { usleep(100) }
          cell.touch()
        }
      }
    }
  },
]

// MARK: Programs without one

final class Locks: Sendable {
  let mutex = Mutex(0)
}

actor Counter {
  private let cell = Cell()
  func touch() { cell.touch() }
}

final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "rig.executor")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

actor OnQueue {
  private let executor = QueueExecutor()
  private let cell = Cell()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  func touch() { cell.touch() }
}

let sound: [String: @Sendable () async -> Void] = [
  "sound-mutex-threads": {
    let cell = Cell()
    let lock = Locks()
    let work: @Sendable () -> Void = { for _ in 0..<50_000 { lock.mutex.withLock { _ in cell.touch() } } }
    onThreads(work, work, work, work)
    cell.touch()
  },
  "sound-mutex-try": {
    let cell = Cell()
    let lock = Locks()
    let work: @Sendable () -> Void = {
      for _ in 0..<50_000 { _ = lock.mutex.withLockIfAvailable { _ in cell.touch() } }
      for _ in 0..<1_000 { lock.mutex.withLock { _ in cell.touch() } }
    }
    onThreads(work, work, work)
  },
  "sound-mutex-tasks": {
    let cell = Cell()
    let lock = Locks()
    await inTasks(8) { _ in for _ in 0..<2_000 { lock.mutex.withLock { _ in cell.touch() } } }
    cell.touch()
  },
  "sound-actors": {
    let counter = Counter()
    let onQueue = OnQueue()
    await inTasks(8) { _ in
      for _ in 0..<200 {
        await counter.touch()
        await onQueue.touch()
      }
    }
  },
  "sound-task-values": {
    for _ in 0..<500 {
      let cell = Cell()
      cell.touch()
      let task = Task.detached {
        cell.touch()
        await Task.yield()
        return cell
      }
      await task.value.touch()
      async let other: Cell = {
        cell.touch()
        return cell
      }()
      await other.touch()
    }
  },
  "sound-continuations": {
    let queue = DispatchQueue(label: "rig")
    let ofQueue = Cell()
    await inTasks(4) { _ in
      for _ in 0..<500 {
        let cell = Cell()
        cell.touch()
        await withCheckedContinuation { continuation in
          queue.async {
            cell.touch()
            ofQueue.touch()
            continuation.resume()
          }
        }
        cell.touch()
        let thrown: Void? = try? await withCheckedThrowingContinuation { continuation in
          queue.async {
            cell.touch()
            continuation.resume(throwing: CancellationError())
          }
        }
        if thrown == nil { cell.touch() }
      }
    }
  },
  "sound-streams": {
    for _ in 0..<200 {
      let (stream, continuation) = AsyncThrowingStream<Cell, any Error>.makeStream()
      let end = Cell()
      continuation.onTermination = { _ in end.touch() }
      let producer = Task.detached {
        for _ in 0..<20 {
          let cell = Cell()
          cell.touch()
          continuation.yield(cell)
        }
        continuation.finish()
      }
      do { for try await cell in stream { cell.touch() } } catch {}
      await producer.value
    }
  },
  "sound-cancellation": {
    let cell = Cell()
    let lock = Locks()
    for _ in 0..<500 {
      let task = Task.detached {
        await withTaskCancellationHandler {
          await withCheckedContinuation { continuation in
            lock.mutex.withLock { _ in cell.touch() }
            continuation.resume()
          }
        } onCancel: {
          lock.mutex.withLock { _ in cell.touch() }
        }
      }
      task.cancel()
      await task.value
    }
  },
  "sound-queues": {
    let cell = Cell()
    let queue = DispatchQueue(label: "rig", attributes: .concurrent)
    await inTasks(8) { index in
      for _ in 0..<200 {
        if index.isMultiple(of: 2) {
          _ = queue.sync { cell.number }
        } else {
          queue.sync(flags: .barrier) { cell.touch() }
        }
      }
    }
    let guarded = Cell()
    let place = DispatchSemaphore(value: 1)
    let group = DispatchGroup()
    for _ in 0..<200 {
      DispatchQueue.global().async(group: group) {
        place.wait()
        guarded.touch()
        place.signal()
      }
    }
    await withCheckedContinuation { continuation in group.notify(queue: queue) { continuation.resume() } }
    guarded.touch()
  },
  "sound-published": {
    for _ in 0..<200 {
      let cell = Cell()
      let ready = Atomic<Bool>(false)
      onThreads(
        {
          cell.touch()
          ready.store(true, ordering: .releasing)
        },
        {
          while !ready.load(ordering: .acquiring) { sched_yield() }
          cell.touch()
        })
    }
  },
  // The last reference goes away on a thread of its own: counts of references give an order that is not seen.
  "sound-last-reference": {
    for _ in 0..<200 {
      let cell = Cell()
      cell.list = Array(0..<50)
      await inTasks(4) { [cell] _ in
        var sum = 0
        for number in cell.list { sum += number }
        _ = sum
      }
      let names = (0..<20).map { "a name that is long enough for the heap: \($0)" }
      await inTasks(4) { [names] index in
        var all = names
        all.append("\(index)")
        var counts: [String: Int] = [:]
        for name in all { counts[name, default: 0] += 1 }
      }
    }
  },
]
