import CLarderSQLite

// SQLite's callbacks for functions and collations. The user data of a registration is an object that SQLite owns until
// the connection closes. The callbacks borrow it, so that a comparison does no reference counting.

private final class FunctionBox: Sendable {
  let body: SQLFunction.Body
  init(_ body: @escaping SQLFunction.Body) { self.body = body }
}

private final class AggregateBox: Sendable {
  let makeState: @Sendable () -> any SQLAggregateState
  init(_ makeState: @escaping @Sendable () -> any SQLAggregateState) { self.makeState = makeState }
}

@safe private final class CollationBox: Sendable {
  let order: SQLCollation.Order
  init(_ order: @escaping SQLCollation.Order) { unsafe self.order = order }
}

/// The state of a group, and the first failure of its rows.
private final class GroupBox {
  let state: any SQLAggregateState
  init(_ state: any SQLAggregateState) { self.state = state }
}

func releaseObject(_ object: UnsafeMutableRawPointer?) {
  guard let object = unsafe object else { return }
  unsafe Unmanaged<AnyObject>.fromOpaque(object).release()
}

private func callFunction(
  _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let data = unsafe sqlite3_user_data(context) else { return }
  unsafe Unmanaged<FunctionBox>.fromOpaque(data)._withUnsafeGuaranteedRef { box in
    let result = unsafe SQLResult(context)
    let arguments = unsafe SQLArguments(count, values, context)
    do throws(SQLFunctionError) { try box.body(arguments, result) } catch { result.fail(error) }
  }
}

/// The memory that SQLite keeps for a group, as long as the group lives: a pointer to a `GroupBox`, NULL before the
/// first row.
private func groupStatePointer(_ context: OpaquePointer?, makes: Bool) -> UnsafeMutablePointer<
  UnsafeMutableRawPointer?
>? {
  let size = makes ? Int32(MemoryLayout<Int>.size) : 0
  return unsafe sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
}

private func addRow(
  _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let data = unsafe sqlite3_user_data(context) else { return }
  guard let groupPointer = unsafe groupStatePointer(context, makes: true) else {
    return unsafe sqlite3_result_error_nomem(context)
  }
  if unsafe groupPointer.pointee == nil {
    let state = unsafe Unmanaged<AggregateBox>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.makeState() }
    unsafe groupPointer.pointee = unsafe Unmanaged.passRetained(GroupBox(state)).toOpaque()
  }
  guard let group = unsafe groupPointer.pointee else { return }
  unsafe Unmanaged<GroupBox>.fromOpaque(group)._withUnsafeGuaranteedRef { box in
    let arguments = unsafe SQLArguments(count, values, nil)
    do throws(SQLFunctionError) { try box.state.add(arguments) } catch { unsafe SQLResult(context).fail(error) }
  }
}

private func finishGroup(_ context: OpaquePointer?) {
  guard let data = unsafe sqlite3_user_data(context) else { return }
  let result = unsafe SQLResult(context)
  let state: any SQLAggregateState
  if let groupPointer = unsafe groupStatePointer(context, makes: false), let group = unsafe groupPointer.pointee {
    // Called once for each group, even if the statement is aborted: the state ends here.
    unsafe groupPointer.pointee = nil
    state = unsafe Unmanaged<GroupBox>.fromOpaque(group).takeRetainedValue().state
  } else {
    state = unsafe Unmanaged<AggregateBox>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.makeState() }
  }
  do throws(SQLFunctionError) { try state.finish(result) } catch { result.fail(error) }
}

private func compareTexts(
  _ data: UnsafeMutableRawPointer?, _ leftCount: Int32, _ left: UnsafeRawPointer?, _ rightCount: Int32,
  _ right: UnsafeRawPointer?
) -> Int32 {
  guard let data = unsafe data else { return 0 }
  return unsafe Unmanaged<CollationBox>.fromOpaque(data)._withUnsafeGuaranteedRef { box in
    let order = unsafe box.order(
      UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
      UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    return order < 0 ? -1 : order > 0 ? 1 : 0
  }
}

extension Connection {
  /// Registers functions and collations with this connection.
  func register(_ extensions: SQLExtensions) throws(StorageError) {
    for function in extensions.functions {
      let box = unsafe Unmanaged.passRetained(FunctionBox(function.body)).toOpaque()
      // SQLite also releases the box if the call fails.
      let code = unsafe sqlite3_create_function_v2(
        handle, function.name, function.argumentCount, function.traits.flags, box, callFunction, nil, nil,
        releaseObject)
      guard code == SQLITE_OK else { throw error(code, sql: function.name) }
    }
    for aggregate in extensions.aggregates {
      let box = unsafe Unmanaged.passRetained(AggregateBox(aggregate.makeState)).toOpaque()
      let code = unsafe sqlite3_create_function_v2(
        handle, aggregate.name, aggregate.argumentCount, aggregate.traits.flags, box, nil, addRow, finishGroup,
        releaseObject)
      guard code == SQLITE_OK else { throw error(code, sql: aggregate.name) }
    }
    for collation in extensions.collations {
      let box = unsafe Unmanaged.passRetained(CollationBox(collation.order)).toOpaque()
      let code = unsafe sqlite3_create_collation_v2(
        handle, collation.name, SQLITE_UTF8, box, compareTexts, releaseObject)
      guard code == SQLITE_OK else {
        // SQLite does not release the box of a collation whose registration failed.
        unsafe releaseObject(box)
        throw error(code, sql: collation.name)
      }
    }
    // SQLite 3.40 puts a Bloom filter before an index that it creates for one statement. That filter considers texts of
    // different length different, whatever the collation says.
    if !extensions.collations.isEmpty { try run("PRAGMA automatic_index = 0") }
  }
}

extension SQLFunctionTraits {
  fileprivate var flags: Int32 {
    var flags = SQLITE_UTF8
    if contains(.deterministic) { flags |= SQLITE_DETERMINISTIC }
    // SQL in the file itself must not call functions that are not innocuous.
    flags |= contains(.innocuous) ? SQLITE_INNOCUOUS : SQLITE_DIRECTONLY
    return flags
  }
}
