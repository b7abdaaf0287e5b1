package import LarderTestSupport

/// How a model service behaves.
package struct ModelKind: Sendable, Hashable {
  /// The response to a creation.
  package enum Insertion: String, Sendable, CaseIterable { case whole, withoutChildren, noContent }
  /// Which queries have delta links.
  package enum Deltas: String, Sendable, CaseIterable { case none, plain, expanded }
  /// What the service makes of texts.
  package enum Texts: String, Sendable, CaseIterable { case unchanged, uppercased, truncated }
  /// Whether streams have ETags of their own, and whether changes need them.
  package enum StreamETags: String, Sendable, CaseIterable { case none, optional, required }
  /// How the stores of a history request orders and their items.
  package enum Layout: String, Sendable, CaseIterable { case apart, expanded, both }

  package var isV2 = false
  /// OData 4.01: batches are JSON.
  package var isV401 = false
  package var hasETags = true
  package var requiresIfMatch = false
  /// Whether the service gives the keys of orders and items; else the client does.
  package var givesKeys = true
  package var insertion = Insertion.whole
  package var deltas = Deltas.none
  /// Whether a failed change set leaves nothing behind.
  package var rollsBack = true
  /// Whether a batch continues after an error.
  package var continues = true
  package var texts = Texts.unchanged
  package var streamETags = StreamETags.none
  /// The context of the singleton is its type's name.
  package var namesTypeInContext = false
  package var pageSize: Int?
  package var layout = Layout.apart
  package var hasLinks = false
  /// Links to many entities change the ETag of their source too.
  package var countsManyLinks = false
  package var hasMedia = false
  package var hasSingleton = false
  package var hasActions = false
  /// Entities that have no property but their key and a complex one.
  package var hasPlaces = false
  /// No query shows where links lead that no property shows.
  package var hidesLinks = false
  /// A change set that fails is carried out all the same but for what failed, and each of its requests has a response.
  package var respondsToEach = false
  /// Responses to changes do not contain the new ETag. No history has such a service.
  package var hidesNewETags = false

  /// Whether the stores of a history know where links lead that no property shows.
  var showsLinks: Bool { hasLinks && !hidesLinks }

  package init() {}

  /// A kind by chance.
  package init(using random: inout PrintedSeed) {
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    isV2 = chance(33)
    isV401 = !isV2 && chance(40)
    hasETags = chance(70)
    requiresIfMatch = hasETags && chance(30)
    givesKeys = chance(70)
    insertion = Insertion.allCases.randomElement(using: &random) ?? .whole
    deltas = isV2 ? .none : Deltas.allCases.randomElement(using: &random) ?? .none
    rollsBack = chance(85)
    continues = isV2 || chance(70)
    texts = chance(60) ? .unchanged : chance(50) ? .uppercased : .truncated
    streamETags = StreamETags.allCases.randomElement(using: &random) ?? .none
    namesTypeInContext = chance(50)
    pageSize = chance(25) ? 3 : nil
    layout = Layout.allCases.randomElement(using: &random) ?? .apart
    hasLinks = chance(35)
    hasMedia = chance(30)
    hasSingleton = !isV2 && chance(20)
    hasActions = !isV2 && chance(30)
    hasPlaces = chance(15)
    hidesLinks = chance(25)
    respondsToEach = !rollsBack && chance(60)
  }
}

extension ModelKind: CustomStringConvertible {
  package var description: String {
    var words = [isV2 ? "V2" : isV401 ? "V4.01" : "V4", layout.rawValue, "deltas:\(deltas)", "insert:\(insertion)"]
    func add(_ holds: Bool, _ word: String) { if holds { words.append(word) } }
    add(hasETags, requiresIfMatch ? "etags-required" : "etags")
    add(!givesKeys, "client-keys")
    add(!rollsBack, respondsToEach ? "answers-each" : "no-rollback")
    add(!continues, "stops-at-errors")
    add(texts != .unchanged, "texts-\(texts)")
    add(pageSize != nil, "pages")
    add(hasLinks, hidesLinks ? "hidden-links" : "links")
    add(hasMedia, "media:\(streamETags)")
    add(hasSingleton, namesTypeInContext ? "singleton-by-type" : "singleton")
    add(hasActions, "actions")
    add(hasPlaces, "places")
    return words.joined(separator: " ")
  }
}
