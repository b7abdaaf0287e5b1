import LarderTestSupport
import Testing

@testable import LarderObjects

@Suite("Objects: request counts that are not in the file yet", .timeLimit(.minutes(1)))
struct RequestCountsTests {
  private func requests(_ times: Int64, _ last: Int64 = 0) -> RequestCounts.Requests { .init(times: times, last: last) }

  @Test("counts are taken in rounds by id; requests added to a taken count belong to the next round")
  func rounds() {
    var counts = RequestCounts()
    for id in [9, 3, 7, 1, 5] as [Int64] { counts.add(requests(1), id) }
    #expect(counts.takeCounts(2).isEmpty)
    counts.beginRound()
    #expect(counts.takeCounts(2).map(\.id) == [1, 3])
    for id in [1, 7, 4] as [Int64] { counts.add(requests(1), id) }
    #expect(counts.remove(5).times == 1)
    let next = counts.takeCounts(2)
    #expect(next.map(\.id) == [7, 9] && next.first?.requests.times == 2)
    counts.add(requests(1), 9)
    #expect(counts.takeCounts(2).isEmpty && counts.count == 3)
    counts.beginRound()
    #expect(counts.takeCounts(2).map(\.id) == [1, 4])
    #expect(counts.takeCounts(5).map(\.id) == [9])
    #expect(counts.takeCounts(5).isEmpty && counts.count == 0)
    counts.add(requests(1), 2)
    #expect(counts.takeCounts(0).isEmpty && counts.count == 1)
  }

  @Test("random adding and taking: no request is lost or counted twice", arguments: 1...8)
  func model(seed: UInt64) {
    var random = PrintedSeed(seed: seed)
    var counts = RequestCounts()
    var (added, taken): ([Int64: Int64], [Int64: Int64]) = ([:], [:])
    for number in 0..<3000 {
      let id = Int64.random(in: 0..<60, using: &random)
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        let limit = Int.random(in: 0..<20, using: &random)
        if Bool.random(using: &random) { counts.beginRound() }
        let some = counts.takeCounts(limit)
        #expect(Set(some.map(\.id)).count == some.count, "seed \(seed)")
        for one in some { taken[one.id, default: 0] += one.requests.times }
      case 1: taken[id, default: 0] += counts.remove(id).times
      default:
        counts.add(requests(2, Int64(number)), id)
        added[id, default: 0] += 2
      }
    }
    counts.beginRound()
    while counts.count > 0 { for one in counts.takeCounts(7) { taken[one.id, default: 0] += one.requests.times } }
    #expect(added == taken.filter { $0.value > 0 }, "seed \(seed)")
  }
}
