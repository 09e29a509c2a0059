// SPDX-License-Identifier: MIT

/// Doubly linked lists of indexes into an array (a slab); the links of all elements are stored in one array.
///
/// Inserting and removing take constant time and no allocation. An element is in at most one list of a table. An object that is
/// in two lists at once, such as an idle connection, has an entry in two tables.
struct LinkTable {
    /// Stands for no element: before the first and after the last element of a list.
    static let none: Int32 = -1
    /// The links of an element that is in no list.
    private static let detached: Int32 = -2

    /// The neighbours of one element in its list.
    private struct Link {
        var previous = LinkTable.detached
        var next = LinkTable.detached
    }

    private var links: [Link] = []

    /// Adds one more element, which is in no list.
    mutating func grow() { links.append(Link()) }

    /// Whether the element is in a list of this table.
    func isLinked(_ index: Int32) -> Bool { links[Int(index)].previous != Self.detached }

    /// Returns the element after `index` in its list; `none` after the last.
    func next(after index: Int32) -> Int32 { links[Int(index)].next }

    /// Returns the element before `index` in its list; `none` before the first.
    func previous(before index: Int32) -> Int32 { links[Int(index)].previous }

    /// Appends an element to `list`.
    mutating func append(_ index: Int32, to list: inout LinkList) {
        assert(!isLinked(index))
        links[Int(index)] = Link(previous: list.last, next: Self.none)
        if list.last == Self.none { list.first = index } else { links[Int(list.last)].next = index }
        list.last = index
        list.count &+= 1
    }

    /// Inserts an element into `list` before `next`, which is in it.
    mutating func insert(_ index: Int32, before next: Int32, in list: inout LinkList) {
        assert(!isLinked(index) && isLinked(next))
        let previous = links[Int(next)].previous
        links[Int(index)] = Link(previous: previous, next: next)
        links[Int(next)].previous = index
        if previous == Self.none { list.first = index } else { links[Int(previous)].next = index }
        list.count &+= 1
    }

    /// Removes an element from `list`, which contains it.
    mutating func remove(_ index: Int32, from list: inout LinkList) {
        assert(isLinked(index))
        let link = links[Int(index)]
        if link.previous == Self.none {
            list.first = link.next
        } else {
            links[Int(link.previous)].next = link.next
        }
        if link.next == Self.none {
            list.last = link.previous
        } else {
            links[Int(link.next)].previous = link.previous
        }
        links[Int(index)] = Link()
        list.count &-= 1
    }

    /// Removes and returns the first element, if there is one.
    mutating func popFirst(of list: inout LinkList) -> Int32? {
        let first = list.first
        guard first != Self.none else { return nil }
        remove(first, from: &list)
        return first
    }
}

/// One list in a `LinkTable`: its ends and its length.
struct LinkList {
    fileprivate(set) var first = LinkTable.none
    fileprivate(set) var last = LinkTable.none
    fileprivate(set) var count: Int32 = 0
    var isEmpty: Bool { first == LinkTable.none }
}
