import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("What readers see of rows with pending changes", .timeLimit(.minutes(1)))
struct PendingFoldTests {
  /// A row as one that knows nothing of bases and effects would do it: a server's copy, and changes on top, one by one.
  private struct NaiveRow {
    var server: [String: Int64]?
    var seen: [String: Int64]?

    init(_ server: [String: Int64]?) {
      self.server = server
      seen = server
    }

    mutating func take(_ effect: Effect) {
      let cells = effect.cells.values.compactMapValues { value -> Int64? in
        if case .integer(let number) = value { number } else { nil }
      }
      switch effect.kind {
      case .insert: seen = (seen ?? [:]).merging(cells) { _, new in new }
      case .set: seen = seen?.merging(cells) { _, new in new }
      case .delete: seen = nil
      case .link, .unlink: break
      }
    }
  }

  @Test("The fold is what the changes do one after another, whatever they are")
  func random() {
    var random = PrintedSeed(for: "PendingFold")
    for _ in 0..<2000 {
      let base = Bool.random(using: &random) ? cells(&random) : nil
      var naive = NaiveRow(base.map(numbers))
      var effects: [Effect] = []
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let kind = [Effect.Kind.insert, .set, .set, .delete, .link].randomElement(using: &random) ?? .set
        effects.append(Effect(kind, "T", 1, cells: cells(&random)))
        naive.take(effects[effects.count - 1])
      }
      #expect(PendingFold.row(base, effects).map(numbers) == naive.seen)
    }
  }

  @Test("A row that the server has removed goes where nothing waits on it, and stays where something does")
  func gone() {
    var base = EntityCells(["A": .integer(1)])
    base.isGone = true
    #expect(PendingFold.row(base, []) == nil)
    let set = Effect(.set, "T", 1, cells: EntityCells(["B": .integer(2)]))
    #expect(PendingFold.row(base, [set]) == EntityCells(["A": .integer(1), "B": .integer(2)]))
    #expect(PendingFold.row(base, [Effect(.delete, "T", 1)]) == nil)
  }

  @Test("The last change of a link is what counts")
  func links() {
    let link = Effect(.link, "L", 1, other: 2)
    let unlink = Effect(.unlink, "L", 1, other: 2)
    #expect(PendingFold.link(false, []) == false)
    #expect(PendingFold.link(true, []))
    #expect(PendingFold.link(false, [link]))
    #expect(PendingFold.link(true, [link, unlink]) == false)
    #expect(PendingFold.link(false, [unlink, link]))
  }

  @Test("Cells and requests are the same after they were kept")
  func preserved() throws {
    let cells = EntityCells([
      "A": .integer(-9_223_372_036_854_775_808), "B": .text("ä\"\\\u{1}€🦆"), "C": .real(0.1), "D": .blob([0, 255, 16]),
      "E": .null, "F": .real(.infinity), "@type": .text("N.T"),
    ])
    #expect(EntityCells(json: cells.json) == cells)
    var request = QueuedRequest(.create, QueuedTarget(RowReference("Orders", 7), "Items", query: "sap-client=1"))
    request.body = .entity(
      QueuedEntity(
        typeName: "N.T", row: RowReference("Items", 9),
        properties: [
          QueuedProperty(name: "a", value: QueuedValue(.null)),
          QueuedProperty(name: "b", value: QueuedValue(.int32(5))),
          QueuedProperty(
            name: "c",
            value: QueuedValue(
              .complex(.init(typeName: nil, properties: [.init("x", .collection([.boolean(true), .string("s")]))])))),
          QueuedProperty(name: "d", value: QueuedValue(try ODataValue(text: "12.50", type: .decimal))),
          QueuedProperty(name: "e", value: QueuedValue(.enumeration("Red,Blue"))),
          QueuedProperty(name: "f", value: QueuedValue(.binary([1, 2]))),
        ], links: [QueuedLink(name: "Tags", isCollection: true, bindings: [.row(RowReference("Tags", 3)), .url("x")])]))
    #expect(JSONSettings.decode(QueuedRequest.self, JSONSettings.encode(request)) == request)
  }

  private func cells(_ random: inout PrintedSeed) -> EntityCells {
    var cells = EntityCells()
    for name in ["A", "B", "C"] where Bool.random(using: &random) {
      cells[name] = .integer(Int64.random(in: 0..<10, using: &random))
    }
    return cells
  }

  private func numbers(_ cells: EntityCells) -> [String: Int64] {
    cells.values.compactMapValues { if case .integer(let number) = $0 { number } else { nil } }
  }
}
