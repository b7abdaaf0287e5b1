import LarderContent
import LarderTestSupport
import Testing

@Suite("Sets of byte ranges", .timeLimit(.minutes(5)))
struct ByteRangeSetTests {
  @Test("ranges that overlap or touch are one, empty ones none")
  func union() {
    #expect(ByteRangeSet([5..<7, 0..<2, 2..<3, 6..<9, 4..<4]).ranges == [0..<3, 5..<9])
    #expect(ByteRangeSet([]).isEmpty)
  }

  @Test("stored ranges are taken only in order, apart, and with as many bytes as there are")
  func stored() {
    #expect(ByteRangeSet(stored: [0..<2, 3..<5], count: 4)?.count == 4)
    #expect(ByteRangeSet(stored: [0..<2, 3..<5], count: 5) == nil)
    #expect(ByteRangeSet(stored: [3..<5, 0..<2], count: 4) == nil)
    #expect(ByteRangeSet(stored: [0..<2, 2..<4], count: 4) == nil)
    #expect(ByteRangeSet(stored: [0..<2, 1..<4], count: 5) == nil)
    #expect(ByteRangeSet(stored: [0..<0, 1..<4], count: 3) == nil)
    #expect(ByteRangeSet(stored: [-3 ..< -1], count: 2) == nil)
    #expect(ByteRangeSet(stored: [0..<Int.max], count: 7) == nil)
    #expect(ByteRangeSet(stored: [], count: 0) != nil)
  }

  @Test("every operation has the result that a set of positions gives")
  func model() {
    var generator = PrintedSeed(for: "ByteRangeSetTests.model")
    for _ in 0..<2000 {
      var positions = Set<Int>()
      var set = ByteRangeSet()
      for _ in 0..<Int.random(in: 0..<6, using: &generator) {
        let start = Int.random(in: 0..<40, using: &generator)
        let range = start..<Int.random(in: start...40, using: &generator)
        set = set.union(range)
        positions.formUnion(range)
      }
      #expect(Set(set.ranges.joined()) == positions)
      #expect(set.count == positions.count)
      let dense = positions.sorted()
      let start = Int.random(in: 0..<45, using: &generator)
      let requested = start..<Int.random(in: start...45, using: &generator)
      #expect(set.contains(requested) == requested.allSatisfy(positions.contains))
      #expect(Set(set.missing(of: requested).joined()) == Set(requested).subtracting(positions))
      #expect(set.missing(of: requested) == ByteRangeSet(set.missing(of: requested)).ranges)
      if !requested.isEmpty {
        let offsets = set.offsets(of: requested)
        #expect(offsets.map { dense[$0].elementsEqual(requested) } ?? !set.contains(requested))
      }
    }
  }
}
