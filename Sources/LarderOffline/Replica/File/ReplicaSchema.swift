import LarderStorage

/// The tables of a store's file in addition to those of entities and links. All names begin with `larder_`.
enum ReplicaSchema {
  /// "Lrdr".
  static let applicationID: Int32 = 0x4C72_6472

  static let schema = Schema(
    applicationID: applicationID,
    steps: [
      First(), Second(), Third(), Fourth(), Fifth(), Sixth(), Seventh(), Eighth(), Ninth(),
    ])

  /// The tables of pending changes.
  static let changes = [
    "larder_request", "larder_effect", "larder_base", "larder_base_link", "larder_dependency", "larder_media",
    "larder_local", "larder_reference",
  ]

  /// An index to find links from either end.
  private struct Third: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      try connection.run("CREATE INDEX larder_effect_other ON larder_effect(other) WHERE other IS NOT NULL")
    }
  }

  private struct First: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      for sql in First.statements { try connection.run(sql) }
    }

    private static let statements = [
      // One row. `version` grows with every change of physical names, `model` with every new metadata document.
      """
      CREATE TABLE larder_state(one INTEGER PRIMARY KEY CHECK(one = 1), version INTEGER NOT NULL,
        model INTEGER NOT NULL, next_id INTEGER NOT NULL, metadata BLOB) STRICT
      """,
      "INSERT INTO larder_state(one, version, model, next_id) VALUES(1, 1, 0, 1)",
      "CREATE TABLE larder_setting(name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID",
      // The existing tables. `kind` is 0 for entities, 1 for links. `next` is the generation that a whole read fills,
      // for `reader`.
      """
      CREATE TABLE larder_table(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL,
        generation INTEGER NOT NULL, next INTEGER, reader INTEGER, search TEXT, shape TEXT NOT NULL,
        UNIQUE(kind, name)) STRICT
      """,
      // Physical tables that are no longer read. They are emptied in slices, then dropped.
      "CREATE TABLE larder_litter(name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
      """
      CREATE TABLE larder_index(name TEXT NOT NULL, paths TEXT NOT NULL, PRIMARY KEY(name, paths))
        STRICT, WITHOUT ROWID
      """,
      """
      CREATE TABLE larder_query(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, url TEXT NOT NULL,
        streams INTEGER NOT NULL, delta_link TEXT, etag TEXT, last_modified TEXT, downloaded REAL, facts TEXT) STRICT
      """,
      // The bit of a query in a table's `@queries`.
      """
      CREATE TABLE larder_membership(query INTEGER NOT NULL, name TEXT NOT NULL, bit INTEGER NOT NULL,
        PRIMARY KEY(query, name), UNIQUE(name, bit)) STRICT, WITHOUT ROWID
      """,
      // A running download. `way` is 0 for a whole read, 1 for changes; `position` is defined by its owner; `rows`
      // counts the query's own table.
      """
      CREATE TABLE larder_download(query INTEGER PRIMARY KEY, way INTEGER NOT NULL, position TEXT,
        pages INTEGER NOT NULL, rows INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT
      """,
      // Inline collections that continue in another page: the rows behind `link` belong to a navigation property of
      // `parent`.
      """
      CREATE TABLE larder_inline(id INTEGER PRIMARY KEY, query INTEGER NOT NULL, link TEXT NOT NULL, name TEXT NOT NULL,
        path TEXT NOT NULL, parent INTEGER NOT NULL) STRICT
      """,
      """
      CREATE TABLE larder_stage(query INTEGER NOT NULL, page INTEGER NOT NULL, part INTEGER NOT NULL,
        form TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY(query, page, part)) STRICT, WITHOUT ROWID
      """,
      "CREATE TABLE larder_event(id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, text TEXT NOT NULL) STRICT",
      "CREATE TABLE larder_change(seq INTEGER PRIMARY KEY AUTOINCREMENT, tables TEXT NOT NULL) STRICT",
    ]
  }

  /// The pending changes, and the server's image of what they change.
  private struct Second: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      for sql in Second.statements { try connection.run(sql) }
    }

    private static let statements = [
      // `unit`: the ID of the first request of a transaction. `state`: see `RequestState`. `name`, `entity`: table and
      // `@id`.
      """
      CREATE TABLE larder_request(id INTEGER PRIMARY KEY AUTOINCREMENT, unit INTEGER NOT NULL, state INTEGER NOT NULL,
        name TEXT, entity INTEGER, request TEXT NOT NULL, attempt TEXT, failure TEXT) STRICT
      """,
      "CREATE INDEX larder_request_entity ON larder_request(entity)",
      """
      CREATE TABLE larder_effect(request INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL,
        name TEXT NOT NULL, row INTEGER NOT NULL, other INTEGER, cells TEXT, PRIMARY KEY(request, seq))
        STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX larder_effect_row ON larder_effect(row)",
      // The server's image of rows with pending changes; `cells` is NULL if the server does not have the row.
      "CREATE TABLE larder_base(row INTEGER PRIMARY KEY, name TEXT NOT NULL, cells TEXT) STRICT",
      "CREATE INDEX larder_base_name ON larder_base(name)",
      """
      CREATE TABLE larder_base_link(name TEXT NOT NULL, source INTEGER NOT NULL, target INTEGER NOT NULL,
        present INTEGER NOT NULL, PRIMARY KEY(name, source, target)) STRICT, WITHOUT ROWID
      """,
      """
      CREATE TABLE larder_dependency(request INTEGER NOT NULL, earlier INTEGER NOT NULL, PRIMARY KEY(request, earlier))
        STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX larder_dependency_earlier ON larder_dependency(earlier)",
      // Bytes of pending uploads: chunks of `StoredStreams` under a generation. Newer ones replace older ones.
      """
      CREATE TABLE larder_media(generation INTEGER PRIMARY KEY, request INTEGER NOT NULL, entity INTEGER NOT NULL,
        property TEXT NOT NULL, content_type TEXT, bytes INTEGER NOT NULL) STRICT
      """,
      "CREATE INDEX larder_media_entity ON larder_media(entity)",
      // Keys that rows had before the server assigned theirs, as `EntityCells`. They are kept for ever.
      """
      CREATE TABLE larder_local(name TEXT NOT NULL, key TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(name, key))
        STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX larder_local_row ON larder_local(row)",
    ]
  }

  /// The rows that a download has inserted or updated, see ``DownloadMarks``.
  private struct Fifth: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      try connection.run(
        """
        CREATE TABLE larder_upserted(download INTEGER NOT NULL, name TEXT NOT NULL, row INTEGER NOT NULL,
          PRIMARY KEY(download, name, row)) STRICT, WITHOUT ROWID
        """)
    }
  }

  /// Marks that whole reads write in slices before their rows are visible. `number` is negative and takes the place of
  /// the download in `larder_upserted`. `download` is NULL while the read is unfinished, and 0 if it will never finish.
  private struct Sixth: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      try connection.run(
        "CREATE TABLE larder_marked(number INTEGER PRIMARY KEY, query INTEGER NOT NULL, download INTEGER) STRICT")
    }
  }

  /// An index of the requests of a transaction after its first. Most requests are in no transaction and not in this
  /// index.
  private struct Seventh: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      try connection.run("CREATE INDEX larder_request_member ON larder_request(unit) WHERE unit <> id AND unit <> 0")
    }
  }

  /// Indexes on inline collections, which may be as many as rows: the next one of a query, and a known one.
  private struct Eighth: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      try connection.run("CREATE INDEX larder_inline_query ON larder_inline(query)")
      try connection.run("CREATE INDEX larder_inline_link ON larder_inline(query, link)")
    }
  }

  /// See ``UploadedRows``. `cells` is the service's image of a deleted entity, NULL for a created one, '' for a moved
  /// one.
  private struct Ninth: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      try connection.run(
        "CREATE TABLE larder_uploaded(row INTEGER PRIMARY KEY, name TEXT NOT NULL, cells TEXT) STRICT")
    }
  }

  /// The rows that requests refer to in addition to their own, and those that contain them. Request 0 marks the rows that
  /// no query includes any more and that a pending change needs.
  private struct Fourth: SchemaStep {
    func run(on connection: Connection) throws(StorageError) {
      for sql in Fourth.statements { try connection.run(sql) }
    }

    private static let statements = [
      """
      CREATE TABLE larder_reference(row INTEGER NOT NULL, request INTEGER NOT NULL, PRIMARY KEY(row, request))
        STRICT, WITHOUT ROWID
      """,
      "CREATE INDEX larder_reference_request ON larder_reference(request)",
      // Pending deletions: there are few, and they are looked up by their tables.
      "CREATE INDEX larder_effect_deletion ON larder_effect(name) WHERE kind = 2",
    ]
  }
}
