import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderService

@Suite("The order of requests", .timeLimit(.minutes(2)))
struct RequestOrderTests {
  @Test("an exclusive claim waits for all, a shared one for exclusive ones, and no request passes a waiting one")
  func claims() {
    var order = RequestOrder()
    let read = order.enter([.shared("a")])
    let other = order.enter([.shared("a")])
    let change = order.enter([.alone("a")])
    let late = order.enter([.shared("a")])
    let elsewhere = order.enter([.alone("b")])
    #expect([read, other, change, late, elsewhere].map { order.canRun($0) } == [true, true, false, false, true])
    #expect(order.leave(read) == [])
    #expect(order.leave(other) == [change])
    #expect(order.leave(change) == [late])
    #expect(order.leave(late) == [] && order.leave(elsewhere) == [])
    #expect(order.isEmpty)
    #expect(order.leave(change) == [])
  }

  @Test("a request that is cancelled while it waits does not let others pass, and does not block others")
  func givenUp() {
    var order = RequestOrder()
    let first = order.enter([.alone("a")])
    let given = order.enter([.alone("a")])
    let last = order.enter([.alone("a")])
    #expect(order.leave(given) == [] && !order.canRun(last))
    #expect(order.leave(first) == [last])
    // Requests with shared claims run as soon as no exclusive claim is before them.
    let waiting = order.enter([.alone("a")])
    #expect(order.leave(last) == [waiting])
    let sharing = order.enter([.shared("a")])
    let alone = order.enter([.alone("a")])
    let behind = order.enter([.shared("a")])
    #expect(order.leave(waiting) == [sharing])
    #expect(order.leave(alone) == [behind])
  }

  @Test("several claims are granted together; a repeated claim counts once")
  func several() {
    var order = RequestOrder()
    let first = order.enter([.alone("a"), .shared("a")])
    let second = order.enter([.alone("b")])
    let both = order.enter([.alone("a"), .alone("b"), .shared("b")])
    let third = order.enter([.alone("b")])
    #expect(order.leave(first) == [] && order.leave(second) == [both])
    #expect(order.leave(both) == [third])
    #expect(order.leave(third) == [] && order.isEmpty)
  }

  @Test("random requests: conflicting ones never run together and run in their order, all others run at once")
  func random() {
    var random = PrintedSeed(for: "RequestOrderTests")
    for _ in 0..<300 {
      var order = RequestOrder()
      var live: [(ticket: UInt64, claims: [RequestClaim])] = []
      for _ in 0..<200 {
        if live.isEmpty || Bool.random(using: &random) {
          let claims = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
            return Bool.random(using: &random) ? RequestClaim.alone(name) : .shared(name)
          }
          live.append((order.enter(claims), claims))
        } else {
          _ = order.leave(live.remove(at: Int.random(in: live.indices, using: &random)).ticket)
        }
        for (place, request) in live.enumerated() {
          let isFree = !live[..<place].contains { earlier in
            earlier.claims.contains { a in
              request.claims.contains { a.resource == $0.resource && !(a.isShared && $0.isShared) }
            }
          }
          #expect(order.canRun(request.ticket) == isFree)
        }
      }
      for request in live { _ = order.leave(request.ticket) }
      #expect(order.isEmpty)
    }
  }

  @Test("turns: a cancelled one is skipped, the others keep their order, and nothing remains")
  func turns() async throws {
    let turns = RequestTurns()
    let log = NumberLog()
    for _ in 0..<100 {
      log.clear()
      let gate = turns.enter(.alone("a"))
      var tasks: [Task<Bool, Never>] = []
      for number in 0..<20 {
        let turn = turns.enter(.alone("a"))
        tasks.append(Task { await turn.take { log.append(number) } != nil })
      }
      for (number, task) in tasks.enumerated() where number % 3 == 0 { task.cancel() }
      for (number, task) in tasks.enumerated() where number % 3 == 0 { #expect(await !task.value) }
      #expect(log.numbers == [])
      gate.end()
      for task in tasks { _ = await task.value }
      #expect(log.numbers == (0..<20).filter { $0 % 3 != 0 })
      #expect(turns.isEmpty)
    }
  }

  @Test("a hundred thousand waiting requests run one after another, and cancelled ones are removed at once")
  func many() {
    var order = RequestOrder()
    let gate = order.enter([.alone("a")])
    let waiting = (0..<100_000).map { _ in order.enter([.alone("a")]) }
    for ticket in waiting.reversed() where ticket % 2 == 0 { _ = order.leave(ticket) }
    var going = order.leave(gate)
    var count = 0
    while let next = going.first {
      count += 1
      going = order.leave(next)
    }
    #expect(count == 50_000 && order.isEmpty)
  }
}

/// Numbers in the order in which they were added.
private final class NumberLog: Sendable {
  private let all = Mutex<[Int]>([])

  var numbers: [Int] { all.withLock { $0 } }
  func append(_ number: Int) { all.withLock { $0.append(number) } }
  func clear() { all.withLock { $0 = [] } }
}
