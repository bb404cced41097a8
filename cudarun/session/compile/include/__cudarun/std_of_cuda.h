namespace cuda { namespace std {} }  // not all of libcu++'s headers declare it
namespace std { using namespace cuda::std; }
