import LarderOData

/// An open part of a payload: an entity, a flattened complex property of it, or an inline collection.
struct OpenRow {
  let table: EntityTable
  /// The navigation property of the enclosing entity that led here; -1 for the payload's own entities.
  let navigation: Int
  /// The frame of the enclosing entity; -1 for none.
  var enclosing: Int
  /// The row of the entity that the part belongs to, and its index in the batch; -1 if it has none.
  var row = PageBatch.Row(table: -1, number: -1, parent: nil)
  var index = -1
  /// The map of members; -1 if no names are looked up.
  var map = -1
  var isCollection = false
  var isDelta = false
  var isIgnored = false
  /// The column of the complex property; -1 for an entity.
  var marker = -1
  var flags: PageBatch.Flags = []
  /// The level of ``RequestedLinks`` that an entity is at; -1 for none.
  var level = -1
  /// The requested links that the entity has inline: one bit for each of its level.
  var shownLinks: UInt64 = 0
  /// URLs of links, by the number of the navigation property.
  var linkURLs: [Int: String] = [:]
  /// The URLs of the entity itself.
  var links = GivenLinks()
  /// Whether a property of the key has a value that does not fit.
  var hasUnfittingKey = false
  var media: MediaInfo?
  var streams: [Int: MediaInfo] = [:]
  /// Undeclared properties by the number of their column.
  var dynamic: [Int: ODataComplexValue] = [:]

  init(table: EntityTable, navigation: Int, enclosing: Int) {
    self.table = table
    self.navigation = navigation
    self.enclosing = enclosing
  }

  /// The frame of the entity that a frame belongs to.
  func entity(_ index: Int) -> Int { marker >= 0 || isCollection ? enclosing : index }

  /// A frame whose content is skipped; `table` is that of the enclosing entity.
  static func ignored(_ table: EntityTable, isCollection: Bool = false) -> OpenRow {
    var frame = OpenRow(table: table, navigation: -1, enclosing: -1)
    frame.isIgnored = true
    frame.isCollection = isCollection
    return frame
  }
}
