// Any header of libstdc++ includes these two.
namespace std { using ::size_t; using ::ptrdiff_t; }
