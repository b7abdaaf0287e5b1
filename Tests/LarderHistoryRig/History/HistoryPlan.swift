import LarderTestSupport

/// One step of a history: what is done, by which store, and the number that decides the rest.
package struct HistoryStep: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, Sendable, CaseIterable {
    case create, twins, createDeep, update, delete, link, media, createMedia, action, transaction, burst
    case undo, resolve, upload, download, reopen, crash, writer
  }

  package let number: Int
  package let kind: Kind
  package let store: Int
  /// The step's own chance: steps keep theirs where others are dropped.
  package let dice: UInt64

  package init(number: Int, kind: Kind, store: Int, dice: UInt64) {
    (self.number, self.kind, self.store, self.dice) = (number, kind, store, dice)
  }

  package var description: String { "\(number) \(kind.rawValue)" }
}

/// A history before it is carried out: the service's kind, how many stores there are, and the steps.
package struct HistoryPlan: Sendable {
  package let seed: UInt64
  package let theme: HistoryTheme
  package var kind: ModelKind
  package let storeCount: Int
  package var steps: [HistoryStep]

  /// The history of a seed. Its theme goes by the seed: those that follow each other have different ones.
  package init(seed: UInt64) {
    let themes = HistoryTheme.turns
    self.init(seed: seed, theme: themes[Int(seed % UInt64(themes.count))])
  }

  /// A history of a seed about one theme.
  package init(seed: UInt64, theme: HistoryTheme) {
    var random = PrintedSeed(seed: seed)
    var kind = ModelKind(using: &random)
    theme.tune(&kind, using: &random)
    (self.seed, self.theme, self.kind) = (seed, theme, kind)
    storeCount = theme == .everything ? Int(2 + random.next() % 2) : 1
    let weights = theme.weights(kind)
    let storeCount = storeCount
    let total = weights.reduce(0) { $0 + $1.weight }
    steps = (0..<Int(8 + random.next() % (theme == .everything ? 20 : 10))).map { number in
      var ball = Int(random.next() % UInt64(total))
      let kind = weights.first { entry in
        ball -= entry.weight
        return ball < 0
      }
      return HistoryStep(
        number: number, kind: kind?.kind ?? .upload, store: Int(random.next() % UInt64(storeCount)), dice: random.next()
      )
    }
  }
}
